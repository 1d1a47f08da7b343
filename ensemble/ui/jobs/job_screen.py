"""A screen about one kind of job: what it says of its kind, and the list of those there are."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import streamlit as st

from ensemble.errors import UnknownRunError
from ensemble.jobs.job import Job
from ensemble.jobs.queue import list_jobs_ahead
from ensemble.jobs.store import JobStore, StoredJob
from ensemble.storage.folders import runs_folder
from ensemble.ui.shared.address import QueryParameter, TextParameter

J = TypeVar("J", bound=StoredJob)


@dataclass(frozen=True)
class JobScreen(Generic[J]):
    """What is peculiar to the screens about one kind of job.

    Attributes:
      store: where the jobs are.
      word: the word in the address that says which is shown; the tab remembers it by that, too.
      prefix: begins the keys of its controls.
      noun: what people call such a job: "regression".
      first_step: what leads to the first of them: "Start with a first regression".
      deletion_question_end: ends the question whether it is to be deleted.
      describe_details: what differs from one to another, in a line; "" where the screen says it.
      dependent_words: further words of the address, which are about the one that is shown.
      memory: under which the tab remembers what it shows; "" for the word in the address. Screens
        about different kinds that share a word have their own.
      explain_refusal: why a job of the store is not for this screen, a sentence; "" if it is.
    """

    store: JobStore[J, Any, Any]
    word: TextParameter
    prefix: str
    noun: str
    first_step: str
    deletion_question_end: str
    describe_details: Callable[[J], str] = lambda job: ""
    dependent_words: tuple[QueryParameter[Any], ...] = ()
    memory: str = ""
    explain_refusal: Callable[[J], str] = lambda job: ""

    @property
    def memory_name(self) -> str:
        return self.memory or self.word.name

    def list_jobs(self) -> list[J]:
        return [job for job in list_store_jobs(self.store) if not self.explain_refusal(job)]

    def find(self, job_id: str) -> J:
        """The job with this id; UnknownRunError also of one that is not for this screen."""
        job = self.store.find(job_id)
        if sentence := self.explain_refusal(job):
            raise UnknownRunError(sentence)
        return job


def list_store_jobs(store: JobStore[J, Any, Any]) -> list[J]:
    """Every job, newest first, at most two seconds old; to be treated as read-only."""
    store_jobs: list[J] = _load_store_jobs(str(runs_folder()), store.kind.name, store)
    return store_jobs


def forget_jobs() -> None:
    """Have the lists read anew: for after a launch, a rename or a deletion."""
    _load_store_jobs.clear()


@st.cache_resource(max_entries=6, ttl=2.0, show_spinner=False)
def _load_store_jobs(folder: str, kind: str, _store: JobStore[Any, Any, Any]) -> list[Any]:
    return _store.list_jobs()


def find_displayed_state(job: Job) -> str:
    """The state, but `starting` where it is queued with nobody before it.

    Its worker takes it up within half a second: to show both would draw the page twice.
    """
    return "starting" if job.state == "queued" and not list_jobs_ahead(job) else job.state
