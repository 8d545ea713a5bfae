"""What breaks clients between two OpenAPI documents, in sentences that an ADR can quote."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
METHODS = ("get", "put", "post", "delete", "patch")


def breaking_changes(old: Json, new: Json) -> list[str]:
    """Everything that a client made of the old document may no longer rely on."""
    return sorted(set(_operations(old, new)) | set(_schemas(old, new)))


def _operations(old: Json, new: Json) -> Iterator[str]:
    for path, methods in old["paths"].items():
        for method in METHODS:
            if method not in methods:
                continue
            name = f"{method.upper()} {path}"
            now = new["paths"].get(path, {}).get(method)
            if now is None:
                yield f"{name} was removed"
            else:
                yield from _operation(name, methods[method], now)


def _operation(name: str, old: Json, new: Json) -> Iterator[str]:
    if old["operationId"] != new["operationId"]:
        yield f"{name} has another operationId"
    before = {(p["in"], p["name"]): p for p in old.get("parameters", ())}
    now = {(p["in"], p["name"]): p for p in new.get("parameters", ())}
    for place, name_ in sorted(before.keys() - now.keys()):
        yield f"{name} lost the {place} parameter {name_}"
    for key, parameter in now.items():
        if parameter.get("required") and not before.get(key, {}).get("required"):
            yield f"{name} requires the {key[0]} parameter {key[1]}"
    for key in before.keys() & now.keys():
        if _shape(before[key]["schema"]) != _shape(now[key]["schema"]):
            yield f"{name} takes another type of {key[0]} parameter {key[1]}"
    if "requestBody" in new and "requestBody" not in old:
        yield f"{name} requires a body"
    yield from _responses(name, old["responses"], new["responses"])


def _responses(name: str, old: Json, new: Json) -> Iterator[str]:
    for status in sorted(old.keys() - new.keys()):
        yield f"{name} no longer answers {status}"
    for status in old.keys() & new.keys():
        were = old[status].get("content", {})
        are = new[status].get("content", {})
        for media in were:
            if media not in are or _form(were[media]) != _form(are[media]):
                yield f"{name} answers {status} in another form of {media}"


def _form(content: Json) -> Any:
    return _shape(content.get("schema", {}))


def _schemas(old: Json, new: Json) -> Iterator[str]:
    sent = _sent(old)
    for name, before in old["components"]["schemas"].items():
        now = new["components"]["schemas"].get(name)
        if now is None:
            yield f"{name} was removed"
            continue
        for value in sorted(set(before.get("enum", ())) - set(now.get("enum", ()))):
            yield f"{name} lost the value {value}"
        properties = now.get("properties", {})
        for field, was in before.get("properties", {}).items():
            if field not in properties:
                yield f"{name} lost the field {field}"
            elif not _fits(was, properties[field], grows=name not in sent):
                yield f"{name}.{field} has another type"
        if name in sent:
            for field in sorted(set(now.get("required", ())) - set(before.get("required", ()))):
                yield f"{name} requires the field {field}"
        else:
            for field in sorted(set(before.get("required", ())) - set(now.get("required", ()))):
                yield f"{name} may leave out the field {field}"


def _sent(document: Json) -> set[str]:
    """The names of the models that requests have."""
    found: set[str] = set()
    todo = [
        operation["requestBody"]
        for methods in document["paths"].values()
        for operation in methods.values()
        if "requestBody" in operation
    ]
    while todo:
        for name in _references(todo.pop()) - found:
            found.add(name)
            todo.append(document["components"]["schemas"][name])
    return found


def _references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"].rsplit("/", 1)[1]} if "$ref" in value else set()
        return own.union(*map(_references, value.values()))
    if isinstance(value, list):
        return set().union(*map(_references, value))
    return set()


def _fits(old: Json, new: Json, *, grows: bool) -> bool:
    """Whether a field is still what it was; what is answered may be of further kinds (`oneOf`)."""
    if grows and old.get("type") == new.get("type") == "array":
        return _fits(old.get("items", {}), new.get("items", {}), grows=grows)
    if grows and "oneOf" in old and "oneOf" in new:
        return set(_shape(old)) <= set(_shape(new))
    return bool(_shape(old) == _shape(new))


def _shape(schema: Json) -> Any:
    """A type without its words and bounds, which may change."""
    if "$ref" in schema:
        return schema["$ref"]
    if "anyOf" in schema:
        return sorted(map(str, map(_shape, schema["anyOf"])))
    if "oneOf" in schema:
        return [str(_shape(one)) for one in schema["oneOf"]]
    if schema.get("type") == "array":
        return ["array", _shape(schema.get("items", {}))]
    return schema.get("const", schema.get("type"))
