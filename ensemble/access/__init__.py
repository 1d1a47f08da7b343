"""Who asks for something, and whether they may: roles, owners, and what is written down of it.

On a machine of one's own whoever asks is `LOCAL`, who may do everything. A shared server says who
asks with `set_person_source`, and from then on nobody is taken for `LOCAL` there.
"""

from ensemble.access.actions import Action
from ensemble.access.people import LOCAL, NOBODY, Person, Role, current_person, set_person_source
from ensemble.access.permissions import check_permission, is_permitted

__all__ = [
    "LOCAL",
    "NOBODY",
    "Action",
    "Person",
    "Role",
    "check_permission",
    "current_person",
    "is_permitted",
    "set_person_source",
]
