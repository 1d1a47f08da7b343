"""What `manifest` prints is what Kubernetes takes, and nothing that was typed becomes a field."""

import http.server
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml
from click.testing import CliRunner, Result

from ensemble.cli.program import main
from ensemble.cluster.kubernetes.dashboard import build_health_command
from ensemble.config import EnsembleConfig

REPO = Path(__file__).resolve().parents[2]
NEEDED = {"--name": "digits", "--image": "ensemble:1.0", "--runs-claim": "runs", "--data-claim": "data"}
RICH = {
    "--name": "a" * 40,
    "--image": f"registry.example.org:5000/me/ensemble@sha256:{'0a' * 32}",
    "--runs-claim": "runs.of-all",
    "--data-claim": "0",
    "--pull-secret": "mine",
    "--members": "64",
    "--groups": "32",
    "--gpus": "2",
    "--cpus": "48",
    "--memory": "512",
    "--retries": "0",
    "--grace": "3600",
    "--user": "65534",
    "--learning-rate": "1e-05",
    "--node-selector": "cloud.example.org/pool=1e5",
    "--toleration": "nvidia.com/gpu=yes:NoExecute",
    "--gpu-resource": "amd.com/gpu",
    "--ephemeral-storage": "20",
    "--label": "kueue.x-k8s.io/queue-name=team",
    "--annotation": 'example.org/why=the third try: 100 %, "yes"',
    "--priority-class": "low",
    "--volume-size": "50",
    "--storage-class": "shared-files",
}
# What YAML, of one version or the other, takes for something else than a string.
ODD = ["1e5", "0x1f", "1_000", "yes", "n", "null", "true", "1.5", "007", "inf", ""]


def call(*words: str, **options: str) -> Result:
    given = NEEDED | {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    said = [word for pair in given.items() for word in pair]
    return CliRunner().invoke(main, ["manifest", *said, *words], catch_exceptions=False)


def printed(*words: str, **options: str) -> tuple[dict[str, Any], dict[str, Any]]:
    result = call(*words, **options)
    assert result.exit_code == 0, result.output
    job, dashboard = yaml.safe_load_all(result.stdout)
    return job, dashboard


def pod_of(resource: dict[str, Any]) -> dict[str, Any]:
    return resource["spec"]["template"]["spec"]


@pytest.mark.parametrize("version", ["1.29", "1.37"])
@pytest.mark.parametrize("options", [{}, RICH], ids=["bare", "rich"])
def test_kubernetes_takes_every_field(options, version):
    result = call(**{name[2:]: value for name, value in options.items()})
    resources = list(yaml.safe_load_all(result.stdout))
    assert len(resources) == (4 if options else 2)
    for resource in resources:
        assert kubernetes_validate.validate(resource, version, strict=True) == version


def test_the_check_is_strict():
    job, _ = printed()
    job["spec"]["completionsMode"] = "Indexed"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(job, "1.37", strict=True)


def test_an_index_is_a_group_and_is_begun_anew_by_itself():
    job, _ = printed("--members", "8", "--groups", "4")
    spec = job["spec"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 4, 4)
    assert spec["backoffLimitPerIndex"] > 0
    assert spec["maxFailedIndexes"] <= spec["completions"]
    # What the schema leaves out, of batch/v1's own validation: a policy for failures needs these.
    assert pod_of(job)["restartPolicy"] == "Never"
    assert spec["podReplacementPolicy"] == "Failed"
    names = [one["name"] for one in pod_of(job)["containers"]]
    rules = {rule["action"]: rule for rule in spec["podFailurePolicy"]["rules"]}
    codes = {name: rule["onExitCodes"] for name, rule in rules.items() if "onExitCodes" in rule}
    assert all(code["containerName"] in names for code in codes.values())
    # A bad value, and numbers that diverge, are the same the next time (docs/command-line.md).
    assert codes["FailJob"]["values"] == [2]
    assert codes["FailIndex"]["values"] == [3]
    assert rules["Ignore"]["onPodConditions"][0]["type"] == "DisruptionTarget"


@pytest.mark.parametrize("which", [0, 1])
def test_a_pod_is_nobody_and_can_write_its_volumes_only(which):
    pod = pod_of(printed(user="4711")[which])
    (container,) = pod["containers"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {pod["securityContext"][name] for name in ("runAsUser", "fsGroup")} == {4711}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    volumes = {one["name"]: one for one in pod["volumes"]}
    paths = {one["mountPath"]: volumes[one["name"]] for one in container["volumeMounts"]}
    values = {one["name"]: one.get("value") for one in container["env"]}
    claims = [paths[values[name]]["persistentVolumeClaim"]["claimName"] for name in ("ENSEMBLE_RUNS", "ENSEMBLE_DATA")]
    assert claims == ["runs", "data"]
    assert "emptyDir" in paths[values["HOME"]]
    assert "emptyDir" in paths["/tmp"]


def test_a_pod_has_what_was_asked_for_and_makes_devices_of_no_other_cores():
    job, _ = printed(cpus="6", memory="9", gpus="1")
    (container,) = pod_of(job)["containers"]
    asked = {"cpu": "6", "memory": "9Gi", "nvidia.com/gpu": "1"}
    assert container["resources"] == {"requests": asked, "limits": asked}
    assert {"name": "JAX_NUM_CPU_DEVICES", "value": "6"} in container["env"]
    assert "nvidia.com/gpu" not in str(printed()[0])
    assert not {"nodeSelector", "tolerations", "imagePullSecrets"} & pod_of(printed()[0]).keys()
    taints = ["a=b:NoSchedule", "a/c", "d=:NoExecute"]
    words = [word for taint in taints for word in ("--toleration", taint)]
    assert pod_of(printed(*words)[0])["tolerations"] == [
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "a/c", "operator": "Exists"},
        {"key": "d", "operator": "Equal", "value": "", "effect": "NoExecute"},
    ]


def test_what_a_cluster_asks_of_its_jobs_stands_in_the_job_and_its_pods():
    pairs = ("--label", "kueue.x-k8s.io/queue-name=team", "--annotation", "a/b=c: d")
    job, dashboard = printed(*pairs, "--priority-class", "low", "--ephemeral-storage", "20")
    for metadata in (job["metadata"], job["spec"]["template"]["metadata"]):
        assert metadata["labels"]["kueue.x-k8s.io/queue-name"] == "team"
        assert metadata["labels"]["app.kubernetes.io/component"] == "training"
        assert metadata["annotations"] == {"a/b": "c: d"}
    assert pod_of(job)["priorityClassName"] == "low"
    (container,) = pod_of(job)["containers"]
    assert container["resources"]["limits"]["ephemeral-storage"] == "20Gi"
    assert "kueue" not in str(dashboard)
    job, _ = printed("--gpus", "2", "--gpu-resource", "amd.com/gpu")
    assert pod_of(job)["containers"][0]["resources"]["limits"]["amd.com/gpu"] == "2"
    assert "nvidia" not in str(job)


def test_the_claims_are_printed_for_who_wants_them():
    result = call("--volume-size", "50", "--storage-class", "files")
    runs, data, job, _ = yaml.safe_load_all(result.stdout)
    assert [one["metadata"]["name"] for one in (runs, data)] == ["runs", "data"]
    for claim in (runs, data):
        assert claim["spec"] == {
            "accessModes": ["ReadWriteMany"],
            "storageClassName": "files",
            "resources": {"requests": {"storage": "50Gi"}},
        }
    assert job["kind"] == "Job"


def test_pods_may_import_the_networks_that_are_allowed_here(monkeypatch):
    monkeypatch.setenv("ENSEMBLE_NETWORKS", "mine:Net")
    resources = printed("--network", "other:Net")
    for resource in resources:
        (container,) = pod_of(resource)["containers"]
        values = {one["name"]: one.get("value") for one in container["env"]}
        assert values["ENSEMBLE_NETWORKS"] == "mine:Net,other:Net"
    monkeypatch.delenv("ENSEMBLE_NETWORKS")
    assert "ENSEMBLE_NETWORKS" not in str(printed())


def test_the_pods_are_told_every_setting_so_that_they_make_the_same_run():
    job, _ = printed("--members", "6", "--groups", "3", "--learning-rate", "1e-5", "--flip")
    python, _, _, _, command, run_id, *words = pod_of(job)["containers"][0]["command"]
    assert (python, command) == ("python", "work-pod")
    assert re.fullmatch(r"digits-\d{4}-\d{6}-[0-9a-f]{4}", run_id)
    train = main.get_command(click.Context(main), "train")
    assert train is not None
    given = train.make_context("train", words).params
    chosen = EnsembleConfig(members=6, groups=3, learning_rate=1e-5, flip=True).as_dict()
    assert {name: value for name, value in given.items() if name in chosen} == chosen


def test_the_dashboard_answers_its_own_pod_alone_and_is_one():
    _, dashboard = printed()
    spec = dashboard["spec"]
    assert spec["strategy"] == {"type": "Recreate"}
    assert spec["replicas"] == 1
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    (container,) = pod_of(dashboard)["containers"]
    assert "--server.address" not in container["command"]  # localhost, as in .streamlit/config.toml
    assert "ports" not in container
    assert container["readinessProbe"]["exec"]["command"] == build_health_command()
    assert "port-forward deployment/digits-dashboard 8501" in call().stdout


@pytest.mark.parametrize(("status", "ready"), [(200, 0), (503, 1)])
def test_it_is_ready_once_it_says_so(status, ready):
    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status if self.path == "/_stcore/health" else 404)
            self.end_headers()

        def log_message(self, *said):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Health) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [sys.executable, *build_health_command(server.server_address[1])[1:]]
        assert subprocess.run(command, timeout=240).returncode == ready
        server.shutdown()


@pytest.mark.parametrize("value", ODD)
def test_a_string_stays_one_for_every_reader_of_yaml(value):
    words = ["--node-selector", f"pool={value}"]
    assert pod_of(printed(*words)[0])["nodeSelector"] == {"pool": value}
    assert f'pool: "{value}"\n' in call(*words).stdout


def test_a_long_name_is_judged_at_once():
    for long in ("a" * 390, "a-" * 190 + "a", "a." * 190 + "a", "/".join("a" * 190)):
        pod = pod_of(printed(image=long)[0])
        assert pod["containers"][0]["image"] == long
        assert call(image=long + "!").exit_code == 2


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("name", ""),
        ("name", "Digits"),
        ("name", "1digits"),
        ("name", "a-"),
        ("name", "a" * 41),
        ("name", "a\nkind: Secret"),
        ("image", "ensemble 1"),
        ("image", "ensemble:1\n"),
        ("image", "-ensemble"),
        ("image", "ensemble:"),
        ("image", "Ensemble"),
        ("image", "https://example.org/ensemble"),
        ("image", "ensemble@sha256:12"),
        ("image", "a" * 401),
        ("image", '{"kind": "Secret"}'),
        ("image", "ensemblé"),
        ("image", "$(HOME)"),
        ("runs_claim", "../data"),
        ("runs_claim", "data"),
        ("data_claim", "a..b"),
        ("data_claim", "x" * 254),
        ("pull_secret", "a b"),
        ("node_selector", "pool"),
        ("node_selector", "=gpu"),
        ("node_selector", "a=b c"),
        ("node_selector", "a=b=c"),
        ("node_selector", f"a={'b' * 64}"),
        ("node_selector", "/a=b"),
        ("label", "queue"),
        ("label", "a=b c"),
        ("label", "app.kubernetes.io/name=other"),
        ("annotation", "=x"),
        ("annotation", "a=b\nkind: Secret"),
        ("annotation", f"a={'b' * 4097}"),
        ("priority_class", "Low"),
        ("gpu_resource", "gpu"),
        ("storage_class", "files"),
        ("toleration", ""),
        ("toleration", "a:Never"),
        ("toleration", "a: NoSchedule"),
        ("toleration", "a:"),
        ("run_id", "digits"),
        ("run_id", "../a-b"),
        ("run_id", "a-" + "b" * 63),
    ],
)
def test_what_is_of_another_form_is_refused_in_a_sentence(option, value):
    result = call(**{option: value})
    assert result.exit_code == 2
    assert result.stdout == ""
    (said,) = result.stderr.splitlines()
    assert said.startswith(f"Error: {option.replace('_', '-')}")
    assert said.endswith(".")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--cpus", "0"], "1<=x<=1024"),
        (["--user", "0"], "1<=x<=2147483647"),
        (["--grace", "5"], "10<=x<=3600"),
        (["--groups", "3"], "at most 2"),
        (["--groups", "0"], "give the number"),
        (["--node-selector", "a=b", "--node-selector", "a=c"], "once"),
        (["--patience", "3"], "validation"),
    ],
)
def test_a_bad_value_is_named_with_what_it_has_to_be(words, said):
    result = call(*words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_every_option_is_in_the_documentation():
    command = main.get_command(click.Context(main), "manifest")
    page = (REPO / "docs" / "kubernetes.md").read_text("utf-8")
    own = {option.opts[0] for option in command.params if not getattr(option, "hidden", False)} - {
        "--" + name.replace("_", "-") for name in EnsembleConfig().as_dict()
    }
    assert {option for option in own if f"| `{option}` |" not in page} == set()
