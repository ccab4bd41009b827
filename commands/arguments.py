"""Check the arguments of public functions against the functions' type annotations.

pydantic checks the values. records/settings.py words the error messages, in the same way as for the
settings of a session. The arguments `workers` and `concurrency` have the bounds of the settings
with these names in config/.
"""

from __future__ import annotations

import errno
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar, Union

from ..records import Proposer, Repairer, UsageError

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic.fields import FieldInfo

P = ParamSpec("P")
T = TypeVar("T")

# the method that identifies each kind of object
PROTOCOL_METHODS: Mapping[Any, str] = {Proposer: "propose", Repairer: "repair"}


def validate_call(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that it raises UsageError for invalid arguments.

    An argument is invalid if its type differs from the annotation, if it is out of bounds, if it is
    a path that is too long for the file system, or if it is an option in **options that the
    function does not take. The values in **options are checked by the code that receives them.
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        check_arguments(function, signature.bind(*args, **kwargs).arguments)
        try:
            return function(*args, **kwargs)
        except OSError as error:
            if error.errno != errno.ENAMETOOLONG:
                raise
            raise UsageError(f"the path {str(error.filename)!r:.60} is too long") from None

    return call


def check_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise UsageError if an argument of a function is invalid, as `validate_call` does.

    Args:
        function: the function whose annotations the values must match.
        arguments: the values by parameter name.
    """
    from pydantic import ValidationError

    from ..records.settings import describe_value

    parameters = inspect.signature(function).parameters
    for name, value in arguments.items():
        kind = parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            check_names(function, name, value)
            continue
        validator, field = _argument(function, name)
        for one in value if kind is inspect.Parameter.VAR_POSITIONAL else (value,):
            try:
                validator.validate_python(one)
            except ValidationError as error:
                raise UsageError(describe_value(name, one, field, error.errors()[0])) from None


def check_names(function: Callable[..., Any], parameter: str, options: Mapping[str, Any]) -> None:
    """Raise UsageError if `options` contains an option that the function does not take.

    Functions that start a session (`RunOptions`, `DiscoverOptions`) are not checked here. They give
    better messages, because they know the method.

    Args:
        function: the function that receives the options.
        parameter: the name of its ** parameter.
        options: the options by name.
    """
    from ..records.settings import suggest_name
    from .option_types import DiscoverOptions, RunOptions

    declared = typing.get_type_hints(function, include_extras=True)[parameter]
    taken = next(iter(typing.get_args(declared)), None)
    if taken not in (None, RunOptions, DiscoverOptions):
        for name in options:
            if name not in taken.__annotations__:
                hint = suggest_name(name, taken.__annotations__)
                raise UsageError(f"{function.__name__} does not take a setting {name!r}{hint}")


@functools.cache
def _argument(function: Callable[..., Any], name: str) -> tuple[TypeAdapter[Any], FieldInfo]:
    """Return the validator of an argument, and the field that words its error message."""
    from pydantic import ConfigDict, TypeAdapter
    from pydantic.fields import FieldInfo

    from ..config import ClusterConfig
    from ..records.settings import union_members

    declared = typing.get_type_hints(function)[name]
    kind: Any = Union[tuple(map(_by_its_method, union_members(declared)))]  # noqa: UP007
    limits = ClusterConfig.model_fields
    for bound in limits[name].metadata if name in limits else ():
        kind = Annotated[kind, bound]
    strict = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
    return TypeAdapter(kind, config=strict), FieldInfo.from_annotation(declared)


def _by_its_method(kind: Any) -> Any:
    """Return a type as pydantic checks it.

    A protocol is checked by its method, and a settings model by instance.
    """
    from pydantic import AfterValidator, BaseModel, InstanceOf

    def has_method(value: Any) -> Any:
        if not callable(getattr(value, PROTOCOL_METHODS[kind], None)):
            raise ValueError
        return value

    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return Annotated[kind, InstanceOf()]  # type: ignore[type-arg]
    return Annotated[Any, AfterValidator(has_method)] if kind in PROTOCOL_METHODS else kind
