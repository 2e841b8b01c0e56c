import yaml

from quorate.api.crds import crds
from quorate.cli.manifests import Format, render


def test_definitions_are_printed_whole_without_references_from_one_to_the_other() -> None:
    text = render(crds(), Format.YAML)
    assert "&id" not in text
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    assert list(yaml.load_all(text, Loader=loader)) == crds()
