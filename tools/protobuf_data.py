# ruff: noqa: INP001 - a script run by path, not a package
"""Condense the protobuf descriptions of k8s.io/api and k8s.io/apimachinery into one data file.

    python tools/protobuf_data.py API_DIRECTORY APIMACHINERY_DIRECTORY

Writes gzip'd JSON: for every message its fields by number, each as [name, type, flags]. Flags: `*` repeated,
`m` a map with text keys, `^` a struct that JSON writes into its parent, `z` a value that JSON leaves out when
it is zero. The last two are read from the Go types and their JSON tags.
"""

import gzip
import json
import re
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "src/quorate/embedded/protobuf.json.gz"
PACKAGES = (
    "admissionregistration/v1", "apps/v1", "authentication/v1", "authorization/v1", "autoscaling/v1",
    "autoscaling/v2", "batch/v1", "coordination/v1", "core/v1", "discovery/v1", "events/v1",
    "networking/v1", "node/v1", "policy/v1", "rbac/v1", "scheduling/v1", "storage/v1",
)  # fmt: skip
MACHINERY = ("pkg/apis/meta/v1", "pkg/api/resource", "pkg/runtime", "pkg/util/intstr")
FIELD = re.compile(
    r"^ {2}(optional |repeated |map<string, )?([.\w]+)(>)? (\w+) = (\d+)( \[.*\])?;", re.MULTILINE
)
MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
TAGGED = re.compile(r"^\t(?:(\w+)\s+)?(\S+)\s+`json:\"([^\"]*)\".*?protobuf:\"\w+,(\d+),", re.MULTILINE)


def messages(directory: Path) -> dict[str, dict[str, list[str]]]:
    text = (directory / "generated.proto").read_text()
    package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
    assert package is not None, directory
    tags = go_tags(directory)
    found = {}
    for name, block in MESSAGE.findall(text):
        fields = {}
        for label, kind, _, field, number, _ in FIELD.findall(block):
            flags = {"repeated ": "*", "map<string, ": "m"}.get(label, "")
            flags += tags.get((name, number), "")
            full = kind.removeprefix(".") if "." in kind else named(package.group(1), kind)
            fields[number] = [field, full, flags]
        found[f"{package.group(1)}.{name}"] = fields
    return found


def named(package: str, kind: str) -> str:
    return kind if kind[0].islower() else f"{package}.{kind}"


def go_tags(directory: Path) -> dict[tuple[str, str], str]:
    """Flags of inlined structs and of plain values with omitempty, by message and field number."""
    found = {}
    for source in sorted(directory.glob("*.go")):
        for struct, block in STRUCT.findall(source.read_text()):
            for _, kind, json_tag, number in TAGGED.findall(block):
                name, *options = json_tag.split(",")
                if not name or "inline" in options:
                    found[struct, number] = "^"
                elif "omitempty" in options and not kind.startswith("*"):
                    found[struct, number] = "z"
    return found


def main() -> None:
    api, machinery = (Path(argument) for argument in sys.argv[1:])
    found: dict[str, dict[str, list[str]]] = {}
    for directory in [*(api / package for package in PACKAGES), *(machinery / name for name in MACHINERY)]:
        found |= messages(directory)
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))
    sys.stdout.write(f"{len(found)} messages\n")


if __name__ == "__main__":
    main()
