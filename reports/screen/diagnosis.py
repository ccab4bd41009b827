"""Terminal output of `peirce doctor`: what this machine has of what Peirce needs.

Names that come from the machine or its nodes are data: `escape_unprintable` shows control characters
as escapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import Console

from ...records import Json
from .text import escape_unprintable


def print_doctor(out: Console, diagnosis: Mapping[str, Json]) -> None:
    """Print the output of `peirce doctor`: versions, platform, sandboxes, models, settings, store."""
    platform, store, gpu, models = (diagnosis[k] for k in ("platform", "store", "gpu", "models"))
    for line in _cleaned(diagnosis.get("cleaned")):
        out.print(f"cleaned   {line}")
    versions = ", ".join(
        f"{name} {version or 'missing'}" for name, version in diagnosis["versions"].items()
    )
    out.print(f"versions  {versions}")
    out.print(
        f"platform  Python {platform['python']}, {platform['system']}, {platform['cores']} cores"
    )
    for name, backend in diagnosis["sandbox"].items():
        out.print(f"sandbox   {name}: {_backend(backend)}")
    keys = ", ".join(name for name, there in models["keys"].items() if there) or "none"
    endpoint = escape_unprintable(models["endpoint"] or "none set in the environment")
    out.print(
        f"models    {', '.join(models['schemes'])}; endpoint: {endpoint};"
        f" keys set in the environment: {keys}"
    )
    for one in diagnosis["settings"] or [{"key": "none set in the environment or a file"}]:
        told = f" = {one['value']} ({one['source']})" if "value" in one else ""
        out.print(f"setting   {escape_unprintable(one['key'] + told)}", soft_wrap=True)
    for name, extra in diagnosis["extras"].items():
        said = (
            "installed"
            if extra["here"]
            else (
                f"missing {', '.join(extra.get('missing', []))}; install with: {extra['install']}"
            )
        )
        out.print(f"extra     {name}: {said}")
    out.print(f"gpu       {', '.join(gpu['devices']) or 'none found'}")
    for node in diagnosis.get("cluster") or ():
        out.print(f"node      {escape_unprintable(node['name'])}: {_node(node)}", soft_wrap=True)
    out.print(f"store     {escape_unprintable(store['path'])}: {_store(store)}")


def _cleaned(cleaned: Mapping[str, Json] | None) -> Iterator[str]:
    if cleaned is None:
        return
    kinds = ("containers", "images", "control_groups")
    removed = [escape_unprintable(name) for kind in kinds for name in cleaned[kind]]
    yield f"removed {', '.join(removed) or 'nothing'}"
    for text in (*cleaned["kept"], *([cleaned["docker"]] if "docker" in cleaned else [])):
        yield (
            f"kept {escape_unprintable(text)}"
            if text in cleaned["kept"]
            else escape_unprintable(text)
        )


def _node(node: Mapping[str, Json]) -> str:
    resources = ", ".join(
        f"{amount / 2**30:,.1f} GiB of {escape_unprintable(name)}"
        if name.endswith("memory")
        else f"{escape_unprintable(name)} {amount:g}"
        for name, amount in node["resources"].items()
    )
    if node["unable"] is not None:
        sandbox = f"cannot be used ({escape_unprintable(node['unable'])})"
    elif node["layers"] is None:
        sandbox = f"no untrusted code ({escape_unprintable(node['refused'] or 'not open yet')})"
    else:
        sandbox = f"sandbox layers {_layers(node['layers'])}"
    return f"{node['cores']} cores; {resources or 'no resources'}; {sandbox}"


def _backend(backend: Mapping[str, Json]) -> str:
    if not backend["here"]:
        return f"not available ({escape_unprintable(backend['reason'])})"
    return _layers(backend["layers"])


def _layers(layers: Mapping[str, bool]) -> str:
    active = [escape_unprintable(name) for name, on in layers.items() if on]
    missing = [escape_unprintable(name) for name, on in layers.items() if not on]
    return ", ".join(active) + (f"; not active: {', '.join(missing)}" if missing else "")


def _store(store: Mapping[str, Json]) -> str:
    if not store["here"]:
        return "does not exist yet"
    if not store["readable"]:
        return f"cannot be read ({escape_unprintable(store['reason'])})"
    return f"{store['sessions']} sessions, {store['bytes'] / 1e6:.1f} MB"
