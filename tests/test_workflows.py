"""What the hosting service runs: the same make targets as everybody."""

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent


def test_workflows_run_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    asked = set()
    for path in (ROOT / ".github" / "workflows").glob("*.yml"):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            runs = " ".join(step.get("run", "") for step in job["steps"])
            named = re.findall(r"\bmake ((?:[\w-]+ ?)+?)(?= \w+=|$)", runs)
            asked |= {target for words in named for target in words.split()}
            asked |= set(job.get("strategy", {}).get("matrix", {}).get("target", []))
    assert asked >= {"test", "demo", "release", "test-slow"}
    assert asked <= targets


def test_settings_of_services_are_yaml():
    for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / ".readthedocs.yaml"]:
        assert isinstance(yaml.safe_load(path.read_text()), dict), path
