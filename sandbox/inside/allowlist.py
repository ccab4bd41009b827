"""The modules and builtins that a hypothesis may use without affecting anything outside itself.

The names are listed in full instead of being computed from the modules, so that a new version of
Python does not allow new names. Some public names are left out on purpose: names that keep state
outside a hypothesis (the context of `decimal`, `calendar.setfirstweekday`, `typing.overload`),
names that look up attributes by text (`operator.attrgetter`, `string.Formatter`), names that reveal
the identity of objects (`operator.is_`), names that use `random` without the source showing it
(`statistics.NormalDist`), classes with mutable class attributes (`textwrap.TextWrapper`), members
of a shared enumeration (`calendar.weekday`), and submodules. tests/sandbox/test_allowlist.py
compares the list with the real modules.

This file imports nothing, because the harness loads it inside the sandbox.
"""

from __future__ import annotations


def split_names(text: str, form: str = "{}") -> frozenset[str]:
    """Return the words of `text` as a set, each inserted into the format string `form`."""
    return frozenset(form.format(name) for name in text.split())


PERMITTED: dict[str, frozenset[str]] = {
    "__future__": split_names("annotations division generator_stop"),
    "abc": split_names("ABC abstractmethod"),
    "array": split_names("array typecodes"),
    "base64": split_names("""b16decode b16encode b32decode b32encode b64decode b64encode b85decode b85encode
        standard_b64decode standard_b64encode urlsafe_b64decode urlsafe_b64encode"""),
    "binascii": split_names("Error a2b_base64 a2b_hex b2a_base64 b2a_hex crc32 crc_hqx hexlify unhexlify"),
    "bisect": split_names("bisect bisect_left bisect_right insort insort_left insort_right"),
    "calendar": split_names("isleap leapdays"),
    "cmath": split_names("""acos acosh asin asinh atan atanh cos cosh e exp inf infj isclose isfinite isinf
        isnan log log10 nan nanj phase pi polar rect sin sinh sqrt tan tanh tau"""),
    "collections": split_names("ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple"),
    "collections.abc": split_names("""Callable Collection Container Generator Hashable Iterable Iterator
        Mapping MutableMapping MutableSequence MutableSet Reversible Sequence Set
        Sized"""),
    "contextlib": split_names("closing contextmanager nullcontext suppress"),
    "copy": split_names("copy deepcopy"),
    "dataclasses": split_names("asdict astuple dataclass field replace"),
    "datetime": split_names("MAXYEAR MINYEAR date datetime time timedelta timezone"),
    "decimal": split_names("""Decimal DivisionByZero InvalidOperation ROUND_05UP ROUND_CEILING ROUND_DOWN
        ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN ROUND_HALF_UP ROUND_UP"""),
    "difflib": split_names("SequenceMatcher get_close_matches ndiff unified_diff"),
    "enum": split_names("Enum Flag IntEnum IntFlag StrEnum auto unique"),
    "fractions": split_names("Fraction"),
    "functools": split_names("""cache cached_property cmp_to_key lru_cache partial reduce total_ordering
        wraps"""),
    "heapq": split_names("heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest"),
    "itertools": split_names("""accumulate batched chain combinations combinations_with_replacement compress
        count cycle dropwhile filterfalse groupby islice pairwise permutations product repeat starmap
        takewhile tee zip_longest"""),
    "json": split_names("JSONDecodeError dumps loads"),
    "math": split_names("""acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees
        dist e erf erfc exp exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose
        isfinite isinf isnan isqrt lcm ldexp lgamma log log10 log1p log2 modf nan nextafter perm pi pow
        prod radians remainder sin sinh sqrt sumprod tan tanh tau trunc ulp"""),
    "numbers": split_names("Complex Integral Number Rational Real"),
    "operator": split_names("""abs add and_ concat contains countOf delitem eq floordiv ge getitem gt iadd
        iand iconcat ifloordiv ilshift imatmul imod imul index indexOf inv invert ior ipow irshift isub
        itemgetter itruediv ixor le lshift lt matmul mod mul ne neg not_ or_ pos pow rshift setitem sub
        truediv truth xor"""),
    "random": split_names("""Random betavariate choice choices expovariate gammavariate gauss getrandbits
        lognormvariate normalvariate paretovariate randbytes randint random randrange sample seed
        shuffle triangular uniform vonmisesvariate weibullvariate"""),
    "re": split_names("""A ASCII DOTALL I IGNORECASE M MULTILINE Match Pattern S U UNICODE VERBOSE X compile
        error escape findall finditer fullmatch match search split sub subn"""),
    "statistics": split_names("""StatisticsError correlation covariance fmean geometric_mean harmonic_mean
        linear_regression mean median median_grouped median_high median_low mode multimode pstdev
        pvariance quantiles stdev variance"""),
    "string": split_names("""ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits
        octdigits printable punctuation whitespace"""),
    "struct": split_names("calcsize error iter_unpack pack unpack unpack_from"),
    "textwrap": split_names("dedent fill indent shorten wrap"),
    "types": split_names("GeneratorType MappingProxyType NoneType SimpleNamespace"),
    "typing": split_names("""AbstractSet Annotated Any AnyStr Callable ClassVar Collection Container Counter
        DefaultDict Deque Dict Final FrozenSet Generator Generic Hashable ItemsView Iterable Iterator
        KeysView List Literal Mapping MutableMapping MutableSequence MutableSet NamedTuple NoReturn
        Optional OrderedDict Protocol Reversible Self Sequence Set Sized Text Tuple Type TypeAlias TypeVar TypedDict Union
        ValuesView cast"""),
    "unicodedata": split_names("""bidirectional category combining decimal decomposition digit
        east_asian_width is_normalized lookup mirrored name normalize numeric unidata_version"""),
}  # fmt: skip

ALLOWED_MODULES = tuple(sorted(PERMITTED))
SUBMODULES = {("collections", "abc"): "collections.abc"}

# Modules that the functions above import when called, and the codecs of `encode` and `decode`.
LAZY_MODULES = ("_strptime", *sorted(split_names("""aliases ascii base64_codec big5 cp1250 cp1251 cp1252 cp437
    cp850 euc_jp gb18030 gbk hex_codec iso8859_1 iso8859_15 iso8859_2 koi8_r latin_1 mac_roman punycode
    quopri_codec raw_unicode_escape rot_13 shift_jis unicode_escape utf_16 utf_16_be utf_16_le utf_32
    utf_32_be utf_32_le utf_7 utf_8 utf_8_sig""", "encodings.{}")))  # fmt: skip
PRELOADED = (*ALLOWED_MODULES, *LAZY_MODULES)

# Objects that can hold no state, unlike functions and classes written in Python.
CONSTANTS = frozenset(
    f"{module}.{name}"
    for module, constants in {
        "cmath": "e inf infj nan nanj pi tau",
        "math": "e inf nan pi tau",
        "decimal": " ".join(n for n in PERMITTED["decimal"] if n.startswith("ROUND_")),
        "string": " ".join(PERMITTED["string"] - {"capwords"}),
        "array": "typecodes",
        "unicodedata": "unidata_version",
    }.items()
    for name in constants.split()
)

BUILTINS = split_names("""
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod enumerate
    filter float format frozenset hasattr hex int isinstance issubclass iter len list map max memoryview
    min next object oct ord pow print property range repr reversed round set slice sorted staticmethod
    str sum super tuple type zip Ellipsis NotImplemented

    BaseException Exception ArithmeticError AssertionError AttributeError BaseExceptionGroup BufferError
    EOFError ExceptionGroup FloatingPointError GeneratorExit ImportError IndentationError IndexError
    KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError NotImplementedError
    OSError IOError EnvironmentError FileNotFoundError PermissionError TimeoutError OverflowError
    RecursionError ReferenceError RuntimeError StopAsyncIteration StopIteration SyntaxError SystemError
    SystemExit TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError ValueError
    ZeroDivisionError Warning UserWarning RuntimeWarning DeprecationWarning
    """)
