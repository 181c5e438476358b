r"""Generalised parities of categorical records, and the marginal tables that they determine.

Attribute g has q_g values and functions psi_{g,0} = 1, psi_{g,1}, ..., psi_{g,q_g - 1}, orthonormal in the sense
(1/q_g) sum_x psi_{g,a}(x) psi_{g,b}(x) = [a = b]; for a binary attribute psi_{g,1}(x) = (-1)^x. A *coordinate* picks
nonconstant functions of at most `order` different attributes; its value on a record is their product, and its mean over
the records is theta. The table of the attributes T, p(x) = prod_{g in T} (1/q_g) sum_a theta_a prod_g psi_{g,a_g}(x_g)
over all choices a, is an orthogonal transform up to scale. So tables made from parities agree on what they share, and
the one-hot constraint "exactly one value" holds by construction: q_g indicator columns become q_g - 1 coordinates.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpgraph.arguments import check_memory
from dpgraph.exceptions import InvalidParameterError
from dpgraph.typing import FloatArray, IntArray

CodeArray = NDArray[np.uint64]

#: Largest number of coordinates, and of table cells, that are handled: arrays of at most a few hundred megabytes.
COORDINATE_LIMIT, CELL_LIMIT = 2**22, 2**24
#: Records come at most so many at a time.
CHUNK = 4096
#: Bits of the two digits of a factor.
_DIGIT_BITS = 20


def character_table(size: int) -> FloatArray:
    """Helmert contrasts psi: row x, column a, psi[:, 0] = 1, columns orthogonal of squared length `size`."""
    psi = np.ones((size, size))
    for a in range(1, size):
        psi[:, a] = np.where(np.arange(size) < a, 1.0, 0.0)
        psi[a, a] = -float(a)
        psi[:, a] *= math.sqrt(size / (a * (a + 1)))
    return psi


@dataclass(frozen=True, eq=False)
class TableGroup:
    """Tables over attribute sets of equal shape, prod q cells each."""

    #: One attribute set a row, increasing, shape (m, k).
    attributes: IntArray
    #: Coordinate of each choice of functions, last attribute fastest, shape (m, prod q).
    index: IntArray
    #: Products of psi: cells = theta[index] @ kernel.T / prod q.
    kernel: FloatArray

    @property
    def cells(self) -> int:
        """Number of cells of one table."""
        return len(self.kernel)

    def tables(self, theta: FloatArray) -> FloatArray:
        """Probabilities of the cells of all tables, shape (m, prod q)."""
        return theta[self.index] @ (self.kernel.T / self.cells)

    def adjoint(self, tables: FloatArray, size: int) -> FloatArray:
        """Transpose of :meth:`tables`, shape (size,)."""
        images = tables @ (self.kernel / self.cells)
        return np.bincount(self.index.ravel(), weights=images.ravel(), minlength=size).astype(np.float64)


class ParityBasis:
    """Coordinates of at most `order` attributes, which have `sizes` q_g >= 2 values."""

    def __init__(self, sizes: Sequence[int], order: int) -> None:
        self.sizes: IntArray = np.asarray(sizes, dtype=np.int64)
        self.order = order
        count = self.counts.sum()
        if count > COORDINATE_LIMIT:
            raise InvalidParameterError(
                f"marginals of order {order} of these attributes have {count:.3g} parities; at most {COORDINATE_LIMIT} "
                "are supported. Ask for a smaller k or degree, or for fewer attributes"
            )
        half = float(self.counts[: -(-order // 2) + 1].sum())
        check_memory(
            f"{count:.3g} parities", parities=(order + 8, float(count)), products=(3 if self.whole else 5, CHUNK, half)
        )
        self.offsets = np.concatenate([[0], np.cumsum(self.sizes - 1)])
        self.owner = np.repeat(np.arange(self.sizes.size), self.sizes - 1)
        #: members[j]: the coordinates of order j as rows of j increasing function numbers.
        self.members = self._enumerate()
        self._function_codes = np.random.default_rng(0).integers(2**63, size=self.owner.size, dtype=np.uint64)
        #: Codes of the coordinates: exclusive or of random codes of their functions.
        self.codes = np.concatenate([self._xor(rows) for rows in self.members])
        self._sorter = np.argsort(self.codes)
        self._sorted = self.codes[self._sorter]
        if np.any(self._sorted[1:] == self._sorted[:-1]):  # 64-bit codes of at most 4 million sets: about 1e-6
            raise InvalidParameterError("two parities share a hash code; change the order of the attributes")

    @property
    def size(self) -> int:
        """Number D of coordinates, the constant one included."""
        return len(self.codes)

    @cached_property
    def counts(self) -> FloatArray:
        """Number of coordinates of order 0, 1, ...: elementary symmetric polynomials of q_g - 1."""
        return elementary_symmetric(self.sizes - 1, self.order)

    @cached_property
    def orders(self) -> IntArray:
        """Order of each coordinate, shape (D,)."""
        return np.repeat(np.arange(len(self.members)), [rows.shape[0] for rows in self.members])

    def lookup(self, codes: CodeArray) -> IntArray:
        """Coordinates with the given codes, which must exist."""
        return np.asarray(self._sorter[np.searchsorted(self._sorted, codes)], dtype=np.int64)

    def coordinate(self, attributes: Sequence[int]) -> int:
        """Coordinate of the parity of some binary attributes."""
        members = self.offsets[np.asarray(sorted(attributes), dtype=np.int64)]
        return int(self.lookup(self._xor(members[None, :]))[0])

    def subset_index(self, order: int) -> IntArray:
        """Coordinates of all subsets of the coordinates of one order, shape (count, 2**order), bit i = member i."""
        codes = np.zeros((len(self.members[order]), 1), dtype=np.uint64)
        for member in self._function_codes[self.members[order]].T:
            codes = np.hstack([codes, codes ^ member[:, None]])
        return self.lookup(codes)

    def group(self, attributes: IntArray) -> TableGroup:
        """Tables over the rows of `attributes`, all of the same shape."""
        sizes = self.sizes[attributes[0]]
        codes = constant = np.zeros((len(attributes), 1), dtype=np.uint64)
        kernel: FloatArray = np.ones((1, 1))
        for q, attribute in zip(sizes, attributes.T, strict=True):
            functions = self.offsets[attribute, None] + np.arange(q - 1)
            options = np.hstack([constant, self._function_codes[functions]])
            codes = (codes[:, :, None] ^ options[:, None, :]).reshape(len(attributes), -1)
            kernel = np.asarray(np.kron(kernel, character_table(int(q))), dtype=np.float64)
        return TableGroup(attributes, self.lookup(codes), kernel)

    def table_groups(self, k: int) -> list[TableGroup]:
        """All tables over k attributes, those of equal shape together."""
        cells = elementary_symmetric(self.sizes.astype(np.float64), k)[k]
        if cells > CELL_LIMIT:
            raise InvalidParameterError(
                f"the tables over {k} attributes have {cells:.3g} cells; at most {CELL_LIMIT} are supported. "
                "Ask for a smaller k, or for fewer attributes"
            )
        sets = np.array(list(itertools.combinations(range(len(self.sizes)), k)), dtype=np.int64)
        shapes, which = np.unique(self.sizes[sets], axis=0, return_inverse=True)
        return [self.group(sets[which == i]) for i in range(len(shapes))]

    @property
    def whole(self) -> bool:
        """Whether all functions are whole numbers: attributes have two values."""
        return bool(np.all(self.sizes == 2))

    @cached_property
    def rounding(self) -> float:
        """Bound on what :meth:`sums` rounds off of a coordinate of one record.

        Either factor, of size 2**e at most, is rounded to a multiple of 2**(e - 40), after a few roundings of doubles.
        """
        return 0.0 if self.whole else 1.1 * 2.0 ** (2 * self._exponent - 2 * _DIGIT_BITS)

    @cached_property
    def _exponent(self) -> int:
        """Products of the functions of at most ceil(order/2) attributes are at most 2 to this."""
        largest = max(float(np.abs(character_table(int(q))).max()) for q in np.unique(self.sizes))
        return math.ceil(-(-self.order // 2) * math.log2(largest))

    def sums(self, pieces: Iterable[IntArray]) -> tuple[FloatArray, ...]:
        """Sums of all coordinates over records, whose exact sum is meant; shape (D,) each.

        Pieces of a table hold attribute values 0..q_g - 1. What is added up for a record, a multiple of a power of two
        within :attr:`rounding` of its coordinates, depends on that record alone; the sum of them is exact, whatever
        their number.
        """
        tables = [character_table(int(q))[:, 1:] for q in self.sizes]
        blocks = (np.hstack([table[c] for table, c in zip(tables, rows.T, strict=True)]) for rows in pieces)
        return (self.product_sums(blocks),) if self.whole else self._sums_of_digits(blocks)

    def product_sums(self, blocks: Iterable[FloatArray]) -> FloatArray:
        """Sums over records of the products of the functions in each coordinate, from their values on each record.

        A block has the shape (records, functions). A coordinate is the product of one of at most ceil(order/2) and one
        of at most floor(order/2) functions, so that all sums are entries of one matrix product: exact for whole numbers
        of up to 2**53 in all.
        """
        high, right, place = self._halves
        total: FloatArray = np.zeros(self.size)
        for block in blocks:
            products = self._products(block, high)
            total += (products.T @ products[:, :right])[place]
        return total

    def _sums_of_digits(self, blocks: Iterable[FloatArray]) -> tuple[FloatArray, ...]:
        """:meth:`product_sums` of real numbers, by exact products of digits of 20 bits in blocks of 2**12 records."""
        high, right, place = self._halves
        unit, base = 2.0 ** (self._exponent - 2 * _DIGIT_BITS), 2**_DIGIT_BITS
        total = np.zeros((4, self.size), dtype=np.int64)  # of base**0, base, base**2 and base**4
        for block in blocks:
            whole = np.rint(self._products(block, high) / unit)
            first = np.rint(whole / base)
            last = whole - first * base
            total[0] += (last.T @ last[:, :right])[place].astype(np.int64)
            total[1] += (first.T @ last[:, :right] + last.T @ first[:, :right])[place].astype(np.int64)
            total[2] += (first.T @ first[:, :right])[place].astype(np.int64)
            for digit, bits in ((0, _DIGIT_BITS), (1, _DIGIT_BITS), (2, 2 * _DIGIT_BITS)):
                carried = total[digit] >> bits
                total[digit] -= carried << bits
                total[digit + 1] += carried
        scaled = (float(base) ** 4 * total[3], float(base) ** 2 * total[2], float(base) * total[1] + total[0])
        return tuple(unit**2 * part for part in scaled)

    @cached_property
    def _halves(self) -> tuple[int, int, tuple[IntArray, IntArray]]:
        """Most functions in the first factor of a coordinate; how many second factors; the place of each product."""
        high = -(-self.order // 2)
        widths = np.cumsum([rows.shape[0] for rows in self.members])
        row = np.concatenate([self.lookup(self._xor(members[:, :high])) for members in self.members])
        column = np.concatenate([self.lookup(self._xor(members[:, high:])) for members in self.members])
        return high, int(widths[self.order - high]), (row, column)

    def _products(self, block: FloatArray, order: int) -> FloatArray:
        columns = [np.ones((block.shape[0], 1))]
        for members in self.members[1 : order + 1]:
            columns.append(reduce(np.multiply, (block[:, functions] for functions in members.T)))
        return np.asarray(np.hstack(columns))

    def _xor(self, members: IntArray) -> CodeArray:
        return np.asarray(np.bitwise_xor.reduce(self._function_codes[members], axis=1, initial=np.uint64(0)))

    def _enumerate(self) -> list[IntArray]:
        """Rows of increasing function numbers of different attributes, each order grown from the one below."""
        levels = [np.zeros((1, 0), dtype=np.int64)]
        for order in range(1, self.order + 1):
            rows = levels[-1]
            start = self.offsets[self.owner[rows[:, -1]] + 1] if order > 1 else np.zeros(1, dtype=np.int64)
            repeats = len(self.owner) - start
            ends = np.cumsum(repeats)
            last = np.arange(repeats.sum()) - np.repeat(ends - repeats - start, repeats)
            levels.append(np.hstack([np.repeat(rows, repeats, axis=0), last[:, None]]))
        return levels


def elementary_symmetric(values: ArrayLike, order: int) -> FloatArray:
    """Elementary symmetric polynomials e_0, ..., e_order of `values`."""
    e = np.zeros(order + 1)
    e[0] = 1.0
    for value in np.asarray(values, dtype=np.float64):
        e[1:] = e[1:] + value * e[:-1]
    return e
