"""Any typed function as a tool: its signature is the schema, its docstring the description."""

import asyncio
import contextlib
import contextvars
import functools
import inspect
import threading
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Union

import docstring_parser
import pydantic_core
from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaWarningKind

from domain.ports import ToolHandler, ToolOutput
from domain.tool_use import ToolDefinition, ToolResult
from domain.tools.registry import TOOL_NAME, failure_output, to_json


class ToolSignatureError(TypeError):
    """A function cannot be a tool; the sentence names the part that prevents it."""


class ToolArgumentError(ValueError):
    """The arguments of a call are invalid; the sentence is for the model."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a tool function; `schema` is a JSON Schema object with its `$defs` at the top."""

    schema: dict[str, Any]
    _adapter: TypeAdapter[dict[str, Any]] = field(repr=False)
    _never_null: frozenset[str]

    def bind(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Keyword arguments for the function: validated, converted, defaults filled in.

        Raises:
            ToolArgumentError: they are invalid.
        """
        # Models like to say null for "nothing in particular".
        given = {name: value for name, value in args.items() if value is not None or name not in self._never_null}
        try:
            # Validated as JSON: dates come as text, enums as their values.
            return self._adapter.validate_json(to_json(given))
        except ValidationError as error:
            raise ToolArgumentError(_sentence(error, self.schema["properties"])) from error
        except TypeError as error:
            raise ToolArgumentError(f"The arguments are not JSON: {error}") from error


def signature_of(function: Callable[..., Any]) -> Signature:
    """The signature of a function, method, partial or callable object.

    Raises:
        ToolSignatureError: a parameter has no annotation, or a kind or type that JSON cannot represent.
    """
    parameters = [_as_keyword(parameter, function) for parameter in _exposed(function)]
    adapters = {parameter.name: _checked_adapter(parameter, function) for parameter in parameters}
    whole = _adapter_of(parameters)
    schema: dict[str, Any] = {"required": [], **whole.json_schema(schema_generator=_PlainSchema)}
    _describe(schema["properties"], parameters, docstring_of(function))
    optional = adapters.keys() - set(schema["required"])
    return Signature(schema, whole, frozenset(name for name in optional if not _accepts_null(adapters[name])))


def definition_of(function: Callable[..., Any]) -> Any:
    """The `def` behind a method, partial, decorator or callable object, which has the name, docstring and globals."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function):
        function = type(function).__call__
    return inspect.unwrap(getattr(function, "__func__", function))


def docstring_of(function: Callable[..., Any]) -> docstring_parser.Docstring:
    """The docstring in any of the common styles; empty if there is none or it cannot be parsed."""
    try:
        return docstring_parser.parse(definition_of(function).__doc__ or "")
    except docstring_parser.ParseError:
        return docstring_parser.Docstring()


def is_optional(annotation: Any) -> bool:
    """Whether None is allowed: Optional[T], Union[T, None], T | None, also inside Annotated."""
    if typing.get_origin(annotation) is Annotated:
        return is_optional(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (Union, types.UnionType):
        return any(is_optional(choice) for choice in typing.get_args(annotation))
    return annotation is None or annotation is types.NoneType


def _exposed(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise ToolSignatureError(f"{_name(function)} cannot be a tool: Python does not know its parameters") from None
    # The model neither sees nor changes what a partial has fixed.
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    return [parameter for parameter in parameters if parameter.name not in fixed]


_REFUSED_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only, and models name their arguments",
    inspect.Parameter.VAR_POSITIONAL: "takes any number of arguments, which a model cannot be told about",
    inspect.Parameter.VAR_KEYWORD: "takes any arguments, which a model cannot be told about",
}


def _as_keyword(parameter: inspect.Parameter, function: Callable[..., Any]) -> inspect.Parameter:
    """The parameter with its annotation resolved, keyword-only; one that may be None is optional."""
    if parameter.kind in _REFUSED_KINDS:
        raise _blame(function, parameter, _REFUSED_KINDS[parameter.kind])
    if not TOOL_NAME.fullmatch(parameter.name):
        raise _blame(function, parameter, "has a name that providers refuse: use ASCII letters, digits and '_'")
    if parameter.annotation is parameter.empty:
        hint = "; pass a bound method" if parameter.name == "self" else ""
        raise _blame(function, parameter, f"has no type annotation{hint}")
    annotation, default = _resolved(parameter, function), parameter.default
    if isinstance(default, FieldInfo) and default.is_required():
        annotation, default = Annotated[annotation, default], parameter.empty
    if default is parameter.empty and is_optional(annotation):
        default = None
    return inspect.Parameter(parameter.name, parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _resolved(parameter: inspect.Parameter, function: Callable[..., Any]) -> Any:
    one = types.SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        names = definition_of(function).__globals__
        return typing.get_type_hints(one, globalns=names, include_extras=True)[parameter.name]
    except Exception as error:
        raise _blame(function, parameter, f"has an annotation that cannot be resolved: {error}") from error


def _checked_adapter(parameter: inspect.Parameter, function: Callable[..., Any]) -> TypeAdapter[Any]:
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(parameter.annotation)
        adapter.json_schema(schema_generator=_PlainSchema)
    except (PydanticUserError, NameError, TypeError, ValueError, RecursionError) as error:
        reason = f"has a type that JSON cannot carry: {inspect.formatannotation(parameter.annotation)}"
        if getattr(error, "code", None) == "typed-dict-version":
            reason = "has a TypedDict of `typing`; before Python 3.12 take the one of `typing_extensions`"
        raise _blame(function, parameter, reason) from error
    return adapter


def _accepts_null(adapter: TypeAdapter[Any]) -> bool:
    try:
        adapter.validate_json("null")
    except ValidationError:
        return False
    return True


def _adapter_of(parameters: list[inspect.Parameter]) -> TypeAdapter[dict[str, Any]]:
    """A validator of arguments: a stand-in with the same parameters, which returns what it was called with."""

    def accept(**arguments: Any) -> dict[str, Any]:
        return arguments

    accept.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    accept.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    stand_in: Any = accept
    return TypeAdapter(stand_in, config=ConfigDict(coerce_numbers_to_str=True))


class _PlainSchema(GenerateJsonSchema):
    """Without titles that repeat the names, and without defaults that JSON cannot represent."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def emit_warning(self, kind: JsonSchemaWarningKind, detail: str) -> None:
        """Do nothing: such a default is left out, and the argument stays optional."""


def _describe(
    properties: dict[str, Any], parameters: list[inspect.Parameter], docstring: docstring_parser.Docstring
) -> None:
    """Add descriptions: from a pydantic Field, else from a string in Annotated, else from the docstring."""
    documented = {name.strip(): entry.description for entry in docstring.params for name in entry.arg_name.split(",")}
    for parameter in parameters:
        notes = (note for note in getattr(parameter.annotation, "__metadata__", ()) if isinstance(note, str))
        if description := next(notes, documented.get(parameter.name)):
            properties[parameter.name].setdefault("description", description)


def _sentence(error: ValidationError, known: Mapping[str, Any]) -> str:
    return ". ".join(dict.fromkeys(_complaint(detail, known) for detail in error.errors(include_url=False)))


def _complaint(detail: Mapping[str, Any], known: Mapping[str, Any]) -> str:
    place = ".".join(map(str, detail["loc"]))
    match detail["type"]:
        case "missing_keyword_only_argument":
            return f"Missing required argument: {place}"
        case "unexpected_keyword_argument":
            return f"Unknown argument: {place} (known: {', '.join(known) or 'none'})"
        case _:
            return f"Argument {place}: {detail['msg']}"


def _name(function: Callable[..., Any]) -> str:
    return getattr(definition_of(function), "__qualname__", None) or repr(function)


def _blame(function: Callable[..., Any], parameter: inspect.Parameter, reason: str) -> ToolSignatureError:
    return ToolSignatureError(f"{_name(function)} cannot be a tool: parameter {parameter.name!r} {reason}")


RESERVED_NAMES = frozenset({"help", "exit", "quit", "print", "input"})
"""Words that people type to a program, and builtins that use the terminal: tools with these names would be mistaken
for them.
"""

_OURS = (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)
"""Exceptions that end the call itself, and are no failure of the function."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A function and its description for a model."""

    name: str
    description: str
    function: Callable[..., Any]
    schema: dict[str, Any]

    @classmethod
    def from_function(cls, func: Callable[..., Any]) -> "Tool":
        """Derive everything from a function, bound method, partial or callable object.

        Raises:
            ToolSignatureError: its name or one of its parameters cannot be described to a model.
        """
        name = _name_of(func)
        description = (docstring_of(func).description or "").strip() or f"Tool: {name}"
        return cls(name, description, func, signature_of(func).schema)

    @property
    def definition(self) -> ToolDefinition:
        return ToolDefinition(self.name, self.description, self.schema)

    def as_dispatcher_entry(self) -> ToolHandler:
        """The function as a handler that never raises: every failure is reported to the model.

        Arguments are checked and converted ("3" becomes 3), synchronous functions run in a thread of their own, and a
        result other than text becomes JSON.
        """
        signature = signature_of(self.function)

        async def call(args: dict[str, Any]) -> ToolOutput:
            try:
                return _encoded(await _called(self.function, signature.bind(args)))
            except _OURS:
                raise
            except BaseException as error:  # noqa: BLE001 - whatever a tool does wrong is a result
                return failure_output(self.name, error)

        return call


def _name_of(function: Callable[..., Any]) -> str:
    if inspect.isclass(function) or not callable(function):
        raise ToolSignatureError(f"{function!r} cannot be a tool: pass a function")
    definition = definition_of(function)
    name = str(definition.__name__ if definition.__name__ != "__call__" else type(function).__name__)
    if name == "<lambda>":
        raise ToolSignatureError("a lambda cannot be a tool: it has no name to call it by, so write it as a def")
    if name in RESERVED_NAMES:
        raise ToolSignatureError(f"{name} cannot be a tool: the name is reserved, so choose another")
    if not TOOL_NAME.fullmatch(name):
        raise ToolSignatureError(f"{name} cannot be a tool: names are 1 to 64 ASCII letters, digits, '_' and '-'")
    return name


async def _called(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
    result = function(**arguments) if is_async else await _in_thread(function, arguments)
    if inspect.isasyncgen(result):
        return [item async for item in result]
    return await result if inspect.isawaitable(result) else result


def _called_whole(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """The function's result; a generator is consumed here, because it works only while it is read."""
    result = function(**arguments)
    return list(result) if inspect.isgenerator(result) else result


async def _in_thread(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """The function's result, computed in a daemon thread with the caller's context variables.

    The loop's own pool is not used: a function that hangs would block one of its few threads for good, and keep the
    program from ending.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not outcome.done():  # the caller may have stopped waiting
            outcome.set_result((value, error))

    def run() -> None:
        try:
            value, error = context.run(_called_whole, function, arguments), None
        except BaseException as raised:  # noqa: BLE001 - it is raised again where the call was made
            value, error = None, raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=run, name=f"tool {definition_of(function).__name__}", daemon=True).start()
    value, error = await outcome
    if error is None:
        return value
    # An exception that would end the caller must not leave the thread.
    raise RuntimeError(f"{type(error).__name__} {error}") if isinstance(error, _OURS) else error


def _encoded(value: Any) -> ToolOutput:
    return value if isinstance(value, str | ToolResult) else pydantic_core.to_json(value, inf_nan_mode="null").decode()
