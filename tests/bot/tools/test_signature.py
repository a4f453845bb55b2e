"""Signatures: what a model is told about a function's parameters, and what it may send."""

import dataclasses
import datetime as dt
import functools
import socket
import sys
import typing
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Dict, List, Literal, Optional, Union  # noqa: UP035 - both spellings count

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from bot.tools.from_function import ToolArgumentError, ToolSignatureError, is_optional, signature_of


class Mood(Enum):
    CALM = "calm"
    WILD = "wild"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Place(BaseModel):
    """Somewhere on the map."""

    name: str
    at: Point
    mood: Mood = Mood.CALM


class Options(TypedDict, total=False):
    limit: int


class Node(BaseModel):
    value: int
    children: list["Node"] = []


def schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    return signature_of(function).schema


def property_of(function: Callable[..., Any], name: str = "x") -> dict[str, Any]:
    found = schema_of(function)["properties"][name]
    assert isinstance(found, dict)
    return found


class TestSchema:
    def test_a_plain_function_gives_a_plain_object(self) -> None:
        def get_weather(location: str, days: int = 1) -> str:
            return ""

        assert schema_of(get_weather) == {
            "type": "object",
            "properties": {"location": {"type": "string"}, "days": {"type": "integer", "default": 1}},
            "required": ["location"],
            "additionalProperties": False,
        }

    def test_a_function_without_parameters_is_a_tool_too(self) -> None:
        def now() -> str:
            return ""

        assert schema_of(now) == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        assert signature_of(now).bind({}) == {}

    @pytest.mark.parametrize(
        ("annotation", "schema"),
        [
            (List[int], {"type": "array", "items": {"type": "integer"}}),  # noqa: UP006
            (list[str], {"type": "array", "items": {"type": "string"}}),
            (Dict[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),  # noqa: UP006
            (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}),  # noqa: UP045
            (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None}),
            (Union[int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}]}),  # noqa: UP007
            (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
            (bool, {"type": "boolean"}),
            (dt.date, {"type": "string", "format": "date"}),
            (Annotated[int, Field(ge=1, le=20)], {"type": "integer", "minimum": 1, "maximum": 20}),
            (Any, {}),
        ],
    )
    def test_types_of_all_common_kinds(self, annotation: Any, schema: dict[str, Any]) -> None:
        def tool(x: Any) -> None: ...

        tool.__annotations__["x"] = annotation
        assert property_of(tool) == schema

    def test_nested_types_are_defined_once_at_the_top(self) -> None:
        def go(start: Place, stops: list[Place], end: Point, options: Options, root: Node) -> None: ...

        schema = schema_of(go)
        assert set(schema["$defs"]) == {"Place", "Point", "Mood", "Options", "Node"}
        assert schema["properties"]["start"] == {"$ref": "#/$defs/Place"}
        assert schema["properties"]["stops"]["items"] == {"$ref": "#/$defs/Place"}
        assert "$defs" not in str(schema["properties"]).replace("#/$defs/", "")
        assert references(schema) <= {f"#/$defs/{name}" for name in schema["$defs"]}

    def test_string_annotations_are_resolved_where_the_function_was_written(self) -> None:
        def tool(x: "Place | None", y: "list[Point]") -> "NoSuchTypeButNobodyAsks": ...  # type: ignore[name-defined]  # noqa: F821

        schema = schema_of(tool)
        assert schema["required"] == ["y"]
        assert set(schema["$defs"]) == {"Place", "Point", "Mood"}

    def test_a_default_json_cannot_carry_is_left_out_but_the_argument_stays_optional(self) -> None:
        sentinel = object()

        def tool(x: Any = sentinel) -> None: ...

        assert property_of(tool) == {}
        assert schema_of(tool)["required"] == []
        assert signature_of(tool).bind({}) == {"x": sentinel}

    def test_a_field_as_default_counts_as_pydantic_means_it(self) -> None:
        def tool(a: int = Field(description="The a."), b: int = Field(3, description="The b.")) -> None: ...

        assert schema_of(tool)["required"] == ["a"]
        assert property_of(tool, "b") == {"type": "integer", "default": 3, "description": "The b."}
        assert signature_of(tool).bind({"a": 1}) == {"a": 1, "b": 3}


def references(schema: Any) -> set[str]:
    if isinstance(schema, list):
        return set().union(*map(references, schema))
    if isinstance(schema, dict):
        own = {schema["$ref"]} if isinstance(schema.get("$ref"), str) else set()
        return own.union(*map(references, schema.values()))
    return set()


class TestRequired:
    def test_required_means_no_default_and_not_optional(self) -> None:
        def tool(
            a: int,
            b: Optional[int],  # noqa: UP045
            c: Union[None, str],  # noqa: UP007, RUF036
            d: int | str | None,
            e: Annotated[int | None, Field(description="e")],
            f: int = 1,
            g: int | None = 2,
            *,
            h: str,
        ) -> None: ...

        assert schema_of(tool)["required"] == ["a", "h"]
        assert signature_of(tool).bind({"a": 1, "h": "x"}) == {
            "a": 1, "b": None, "c": None, "d": None, "e": None, "f": 1, "g": 2, "h": "x",
        }  # fmt: skip

    @pytest.mark.parametrize("annotation", [Optional[int], int | None, Annotated[Optional[int], "note"], None])  # noqa: UP045
    def test_every_spelling_of_optional_is_seen(self, annotation: Any) -> None:
        assert is_optional(annotation)

    @pytest.mark.parametrize("annotation", [int, Union[int, str], list[int | None], Any, Annotated[int, None]])  # noqa: UP007
    def test_what_only_looks_optional_is_not(self, annotation: Any) -> None:
        assert not is_optional(annotation)


class TestDescriptions:
    def test_google_style(self) -> None:
        def tool(x: int, place: Place) -> None:
            """Do it.

            Args:
                x: How often,
                    in all.
                place (Place): Where.
            """

        assert property_of(tool)["description"].split() == ["How", "often,", "in", "all."]
        assert property_of(tool, "place") == {"$ref": "#/$defs/Place", "description": "Where."}

    def test_numpy_style(self) -> None:
        def tool(x: int, y: int, z: int) -> None:
            """Do it.

            Parameters
            ----------
            x, y : int
                Where on the map.
            z : int
                How high.
            """

        assert [property_of(tool, name)["description"] for name in "xyz"] == ["Where on the map."] * 2 + ["How high."]

    def test_sphinx_style(self) -> None:
        def tool(x: int) -> None:
            """Do it.

            :param x: How often.
            """

        assert property_of(tool)["description"] == "How often."

    def test_an_annotation_speaks_louder_than_the_docstring(self) -> None:
        def tool(x: Annotated[int, Field(description="Field")], y: Annotated[int, "string"], z: int) -> None:
            """Do it.

            Args:
                x: docstring
                y: docstring
                z: docstring
            """

        assert [property_of(tool, name)["description"] for name in "xyz"] == ["Field", "string", "docstring"]

    def test_a_docstring_that_cannot_be_read_costs_only_the_descriptions(self) -> None:
        def tool(x: int) -> None: ...

        tool.__doc__ = "Do it.\n\n:param:\n"
        assert property_of(tool) == {"type": "integer"}


class TestRefusals:
    @pytest.mark.parametrize(
        ("source", "sentence"),
        [
            ("def f(x): ...", "parameter 'x' has no type annotation"),
            ("def f(self, x: int): ...", "parameter 'self' has no type annotation; pass a bound method"),
            ("def f(*args: int): ...", "parameter 'args' takes any number of arguments"),
            ("def f(**kwargs: int): ...", "parameter 'kwargs' takes any arguments"),
            ("def f(x: int, /): ...", "parameter 'x' is positional-only"),
            ("def f(x: socket.socket): ...", "parameter 'x' has a type that JSON cannot carry: socket.socket"),
            ("def f(x: Callable[[int], int]): ...", "parameter 'x' has a type that JSON cannot carry"),
            ("def f(x: list[socket.socket]): ...", "parameter 'x' has a type that JSON cannot carry"),
            ("def f(x: 5): ...", "parameter 'x' has a"),
            ("def f(x: 'Nowhere'): ...", "parameter 'x' has an annotation that cannot be resolved: name 'Nowhere'"),
            ("def f(x: 'int |'): ...", "parameter 'x' has an annotation that cannot be resolved"),
            ("def f(größe: int): ...", "parameter 'größe' has a name that providers refuse"),
        ],
    )
    def test_a_parameter_that_cannot_be_told_to_a_model_is_named(self, source: str, sentence: str) -> None:
        names: dict[str, Any] = {"socket": socket, "Callable": Callable}
        exec(source, names)
        with pytest.raises(ToolSignatureError) as refusal:
            signature_of(names["f"])
        assert str(refusal.value).startswith("f cannot be a tool: ")
        assert sentence in str(refusal.value)

    @pytest.mark.skipif(sys.version_info >= (3, 12), reason="from 3.12 on it is a type like any other")
    def test_the_old_typed_dict_is_refused_with_the_way_out(self) -> None:
        def tool(x: typing.TypedDict("Old", {"a": int})) -> None: ...  # type: ignore[valid-type]

        with pytest.raises(ToolSignatureError, match="take the one of `typing_extensions`"):
            signature_of(tool)

    def test_a_builtin_that_hides_its_parameters(self) -> None:
        with pytest.raises(ToolSignatureError, match="does not know its parameters"):
            signature_of(max)


class TestBinding:
    def test_values_are_converted_to_what_the_function_expects(self) -> None:
        def tool(n: int, zip_code: str, on: dt.date, mood: Mood, at: Point, place: Place, price: Decimal) -> None: ...

        bound = signature_of(tool).bind(
            {
                "n": "3",
                "zip_code": 89073,
                "on": "2026-11-21",
                "mood": "wild",
                "at": {"x": "1"},
                "place": {"name": "Ulm", "at": {"x": 1, "y": 2}},
                "price": "1.10",
            }
        )
        assert bound == {
            "n": 3,
            "zip_code": "89073",
            "on": dt.date(2026, 11, 21),
            "mood": Mood.WILD,
            "at": Point(1, 0),
            "place": Place(name="Ulm", at=Point(1, 2)),
            "price": Decimal("1.10"),
        }

    @pytest.mark.parametrize(
        ("args", "sentence"),
        [
            ({}, "Missing required argument: n"),
            ({"n": 1, "m": 2}, "Unknown argument: m (known: n, where)"),
            ({"n": "three"}, "Argument n: Input should be a valid integer, unable to parse string as an integer"),
            ({"n": None}, "Argument n: Input should be a valid integer"),
            ({"n": 1, "where": [{"x": 1}, {"y": 2}]}, "Argument where.1.x: Field required"),
            ({"m": 1}, "Missing required argument: n. Unknown argument: m (known: n, where)"),
            ({"n": object()}, "The arguments are not JSON: Object of type object is not JSON serializable"),
        ],
    )
    def test_what_does_not_fit_is_said_in_a_sentence(self, args: dict[str, Any], sentence: str) -> None:
        def tool(n: int, where: list[Point] | None = None) -> None: ...

        with pytest.raises(ToolArgumentError) as refusal:
            signature_of(tool).bind(args)
        assert str(refusal.value) == sentence

    def test_null_for_an_argument_with_a_default_means_the_default(self) -> None:
        def tool(n: int = 5, m: int | None = 6, anything: Any = 7) -> None: ...

        bound = signature_of(tool).bind({"n": None, "m": None, "anything": None})
        assert bound == {"n": 5, "m": None, "anything": None}

    def test_what_a_partial_has_fixed_is_neither_shown_nor_changed(self) -> None:
        def fetch(key: str, url: str, *, secret: str = "") -> None: ...

        signature = signature_of(functools.partial(fetch, "k", secret="s3cret"))
        assert signature.schema["properties"] == {"url": {"type": "string"}}
        with pytest.raises(ToolArgumentError, match="Unknown argument: secret"):
            signature.bind({"url": "x", "secret": "mine"})
