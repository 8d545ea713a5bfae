"""What all models have in common: camel case outside, and the words of their GraphQL twins."""

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


class Model(BaseModel):
    """A part of an answer.

    A subclass that ``mirrors`` a GraphQL type has its fields, but for those it ``leaves_out``, and
    takes its descriptions from there.

    Raises:
        TypeError: at import, when the fields of the two differ.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        from_attributes=True,
        serialize_by_alias=True,
        frozen=True,
    )
    _twin: ClassVar[Any] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Leave ``mirrors`` and ``leaves_out`` to the hook that runs once the fields are known."""
        kwargs.pop("mirrors", None)
        kwargs.pop("leaves_out", None)
        super().__init_subclass__(**kwargs)

    @classmethod
    def __pydantic_init_subclass__(
        cls, *, mirrors: type | None = None, leaves_out: tuple[str, ...] = (), **_: Any
    ) -> None:
        if mirrors is None:
            return
        cls._twin = mirrors.__strawberry_definition__  # type: ignore[attr-defined]
        theirs = {field.python_name for field in cls._twin.fields} - set(leaves_out)
        ours = set(cls.model_fields) - ({"type"} - theirs)
        if theirs != ours:
            raise TypeError(f"{cls.__name__} and its twin differ in {sorted(theirs ^ ours)}")

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The schema, described in the words of the GraphQL twin."""
        schema = handler(core_schema)
        if cls._twin is None:
            return schema
        own = handler.resolve_ref_schema(schema)
        if cls._twin.description:
            own["description"] = cls._twin.description
        for field in cls._twin.fields:
            described = own.get("properties", {}).get(to_camel(field.python_name))
            if described is not None and field.description:
                described["description"] = field.description
        return schema


class Input(Model):
    """A body that is sent; what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", strict=True)
