"""What the public functions are given, checked by the types that each declares.

pydantic checks the values, and records/settings.py words the refusal as it does for the settings of a
session. The arguments `workers` and `concurrency` have the bounds of these settings in config.py.
"""

from __future__ import annotations

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

METHODS: Mapping[Any, str] = {Proposer: "propose", Repairer: "repair"}  # what tells an object by


def checked(function: Callable[P, T]) -> Callable[P, T]:
    """Make a function raise UsageError for an argument of another type than it declares, or beyond
    its bounds, and for **options that it does not take; their values are checked where they are passed
    on to."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        check_arguments(function, signature.bind(*args, **kwargs).arguments)
        return function(*args, **kwargs)

    return call


def check_arguments(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Raise UsageError as `checked` does, for arguments by their names."""
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
    """Raise UsageError for a setting that the function does not take. Of those that `run` takes, what
    its configuration says is better, which knows the method."""
    from ..records.settings import nearest_name
    from .option_types import RunOptions

    declared = typing.get_type_hints(function, include_extras=True)[parameter]
    taken = next(iter(typing.get_args(declared)), None)
    if taken not in (None, RunOptions):
        for name in options:
            if name not in taken.__annotations__:
                hint = nearest_name(name, taken.__annotations__)
                raise UsageError(f"{function.__name__} takes no setting {name!r}{hint}")


@functools.cache
def _argument(function: Callable[..., Any], name: str) -> tuple[TypeAdapter[Any], FieldInfo]:
    """What validates an argument, and the field that a refusal is worded by."""
    from pydantic import ConfigDict, TypeAdapter
    from pydantic.fields import FieldInfo

    from ..config import ClusterConfig
    from ..records.settings import alternatives

    declared = typing.get_type_hints(function)[name]
    kind: Any = Union[tuple(map(_by_its_method, alternatives(declared)))]  # noqa: UP007
    limits = ClusterConfig.model_fields
    for bound in limits[name].metadata if name in limits else ():
        kind = Annotated[kind, bound]
    strict = ConfigDict(strict=True, allow_inf_nan=False, arbitrary_types_allowed=True)
    return TypeAdapter(kind, config=strict), FieldInfo.from_annotation(declared)


def _by_its_method(kind: Any) -> Any:
    """A type as pydantic checks it: an object of the user's own by the method that it is asked for."""
    from pydantic import AfterValidator, BaseModel, InstanceOf

    def has_method(value: Any) -> Any:
        if not callable(getattr(value, METHODS[kind], None)):
            raise ValueError
        return value

    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return Annotated[kind, InstanceOf()]  # type: ignore[type-arg]
    return Annotated[Any, AfterValidator(has_method)] if kind in METHODS else kind
