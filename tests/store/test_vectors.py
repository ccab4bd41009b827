"""The codec of vectors: what goes in comes out bit by bit, and an altered blob is found.

Internals: the codec is compared bit by bit, and blobs are altered.
"""

from __future__ import annotations

import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from peirce.records import StoreError
from peirce.store.codec import (
    CONSTANT,
    HEADER,
    MAGIC,
    RAW,
    decode_vector,
    encode_vector,
    is_intact,
    vector_digest,
)
from peirce.tests.counts import drawn

DTYPES = ["<i8", "|u1", "<i4", "<u2", "<f8", "<f4", "|b1", "|i1"]


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    size = draw(st.integers(0, 3_000))
    distinct = draw(st.integers(1, 3_000))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(0, 256, (distinct, dtype.itemsize), dtype=np.uint8)
    if dtype.kind == "b":
        values &= 1
    array = values[rng.integers(0, distinct, size)].reshape(-1).view(dtype)
    if draw(st.booleans()) and size % 2 == 0:
        array = array.reshape(2, size // 2)
    return array


@pytest.mark.counted
@settings(max_examples=drawn(75, soak=150))
@given(arrays())
def test_any_array_comes_back_bit_by_bit(array: np.ndarray) -> None:
    blob = encode_vector(array)
    back = decode_vector(blob)
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()
    assert is_intact(vector_digest(array), blob)


def test_zero_and_minus_zero_stay_apart() -> None:
    array = np.array([0.0, -0.0] * 500)
    assert decode_vector(encode_vector(array)).tobytes() == array.tobytes()


def test_big_endian_and_strided_arrays_have_the_digest_of_their_values() -> None:
    plain = np.arange(100, dtype="<i8")
    assert vector_digest(plain.astype(">i8")) == vector_digest(plain)
    assert vector_digest(np.repeat(plain, 2)[::2]) == vector_digest(plain)
    assert decode_vector(encode_vector(np.repeat(plain, 2)[::2])).tolist() == plain.tolist()


@pytest.mark.parametrize(
    ("array", "at_most"),
    [
        (np.zeros(14_101, np.uint8), 64),
        (np.full(14_101, 2**60), 64),
        (np.arange(14_101) % 2 * 2**60, 4_000),
        (np.random.default_rng(0).integers(-(2**62), 2**62, 100)[np.arange(14_101) % 100], 16_000),
    ],
)
def test_repetitive_vectors_are_small(array: np.ndarray, at_most: int) -> None:
    assert len(encode_vector(array)) <= at_most


@pytest.mark.counted
@settings(max_examples=drawn(30, soak=60))
@given(arrays(), st.data())
def test_a_changed_byte_never_passes_for_the_same_vector(
    array: np.ndarray, data: st.DataObject
) -> None:
    digest, blob = vector_digest(array), bytearray(encode_vector(array))
    place = data.draw(st.integers(0, len(blob) - 1))
    blob[place] ^= data.draw(st.integers(1, 255))
    if is_intact(digest, bytes(blob)):  # a redundant bit of the compression, say
        assert decode_vector(bytes(blob)).tobytes() == array.tobytes()


def test_one_altered_code_is_found() -> None:
    codes = np.arange(14_101)
    altered = codes.copy()
    altered[7_000] += 1
    assert not is_intact(vector_digest(codes), encode_vector(altered))


@pytest.mark.parametrize("blob", [b"", b"PV1", b"x" * 40, encode_vector(np.arange(50))[:-3]])
def test_a_blob_that_is_no_vector_is_a_store_error(blob: bytes) -> None:
    with pytest.raises(StoreError, match="vector"):
        decode_vector(blob)


def test_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="numbers"):
        encode_vector(np.array([{}], dtype=object))


@pytest.mark.parametrize("packed", [False, True])
def test_a_small_blob_that_claims_gigabytes_is_refused_before_they_are_held(packed: bool) -> None:
    claimed = 170_000_000
    form, body = (RAW, zlib.compress(bytes(8 * 20_000_000), 9)) if packed else (CONSTANT, bytes(8))
    items = 20 if packed else claimed
    blob = HEADER.pack(MAGIC, form, packed, b"<i8", 1) + struct.pack("<Q", items) + body
    tracemalloc.start()
    try:
        with pytest.raises(StoreError, match="bytes"):
            decode_vector(blob)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
