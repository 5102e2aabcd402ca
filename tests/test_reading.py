"""The reader of lines of figures knows arithmetic, units and digits, and lets nothing pass that does not add up."""

import pytest

from mlsysim.engine.reading import ReadingError, read, read_line, stripped

HOLDS = [
    "M = 6.0 GB × 3 + 0 B = 18.0 GB",
    "M = 1.5 × 10⁹ × 16 B = 24.0 GB",
    "M = 1.5 × 10⁹ × 16 B = 22.4 GiB",
    "u = 18.0 GB / (85.9 GB) = 21.0 %",
    "u = (18.0 GB)/(85.9 GB) = 21.0 %",
    "free = 85.9 GB − 18.0 GB = 67.9 GB",
    "fits = yes and 18.0 GB ≤ 85.9 GB = yes",
    "fits = 18.0 GB > 85.9 GB or not yes = no",
    "precision = fp16 = fp16 = yes",
    "optimizer ≠ adam = adam = adam = yes",
    "t = 18.0 GB / (3.35 TB/s) = 5.37 ms",
    "t = 30 min + 0.5 h = 60 min",
    "R = 3 / (2 h) = 1.5 1/h",
    "n = ⌊(85.9 GB − 24.0 GB) / (574 GB / 32)⌋ = 3",
    "n = ⌊−6.90⌋ = −7 (none fits, short by 5.0 GB)",
    "n = ⌈3,001 / 1,000⌉ = 4",
    "n = 10 mod 3 = 1",
    "n = max(24.0 GB − 85.9 GB, 0) = 0 B",
    "n = min(3 s, 2 min, 4 s) = 3 s",
    "x = 2^10 = 1,024",
    "x = 2 × 4,096² = 33,554,432",
    "x = √(16 B / (4 B)) = 2",
    "x = −(3 + 4) × 2 = −14",
    "x = exp(−1) = 0.368",
    "x = 2 − 3 − 4 = −5",
    "x = 12 / 3 / 2 = 2",
    "x = (1.0 kB × 3 + 2.0 kB × 1) = 5.0 kB",
    "x = 4 B",
    "P = none",
]  # fmt: skip
FAILS = [
    "M = 6.0 GB × 3 = 18.1 GB",
    "M = 6.0 GB × 3 = 18.0 MB",
    "M = 6.0 GB × 3 = 18.0",
    "M = 6.0 GB × 3 = 18.0 s",
    "u = 18.0 GB / (85.9 GB) = 0.21 %",
    "fits = 18.0 GB ≤ 85.9 GB = no",
    "x = 1.00 GB − 0.99 GB = 12 MB",
    "x = 1.001 GB − 1.000 GB = 1.60 MB",
    "n = 13 / 3 = 4",
    "n = ⌈3 / 2⌉ = 1",
    "x = 12 / (3 / 2) = 2",
    "precision = fp16 = fp32 = yes",
    "x = −3 = 3",
    "P = none = 0",
]  # fmt: skip
UNREADABLE = [
    "M",
    "M = 6.0 GB + 3 s = 9.0 GB",
    "M = 6.0 GB + 3 = 9.0 GB",
    "M = 6.0 GB ≤ 3 s = yes",
    "M = 6.0 GB × = 6.0 GB",
    "M = (6.0 GB = 6.0 GB",
    "M = 6.0 GB) = 6.0 GB",
    "M = 6.0 GB 3 = 18.0 GB",
    "M = 6.0 florins = 6.0 GB",
    "M = $6 = 6",
    "M = 3 / 0 = 0",
    "M = nan = 3",
    "x = 3 and 4 = yes",
    "x = 3 > fp16 = yes",
    "x = fp16 × 2 = 3",
    "x = max 3 = 3",
    "x = 1,00 + 1 = 2",
    "x = 3 if yes; otherwise 4 = 3",
]  # fmt: skip


@pytest.mark.parametrize("line", HOLDS)
def test_lines_that_add_up(line: str) -> None:
    assert read_line(line).holds


@pytest.mark.parametrize("line", FAILS)
def test_lines_that_do_not(line: str) -> None:
    assert not read_line(line).holds


@pytest.mark.parametrize("line", UNREADABLE)
def test_lines_that_are_no_arithmetic(line: str) -> None:
    try:
        assert not read_line(line).holds, "it is read as something else"
    except ReadingError as error:
        assert str(error)


def test_the_interval_is_half_the_last_digit() -> None:
    for shown, inside, outside in (("5.37 ms", "5.3749 ms", "5.3751 ms"), ("1.5 × 10⁹", "1.549 × 10⁹", "1.551 × 10⁹"), ("104", "103.6", "103.4"), ("21 %", "20.6 %", "20.4 %")):
        assert read_line(f"x = {inside} = {shown}").holds and not read_line(f"x = {outside} = {shown}").holds


def test_a_bare_small_whole_number_is_exact() -> None:
    assert not read_line("n = 12.4 × 1 = 12").holds and read_line("n = 12.0 × 1 = 12").holds


def test_values_are_in_base_units() -> None:
    assert read("1.5 × 10³ GB").value == 1.5e12 and read("8 bit").value == 1 and read("2 h").value == 7200 and read("50 %").value == 0.5


def test_html_is_read_with_its_tags_gone() -> None:
    assert stripped('a<span style="display:none">(</span><b>24.0\u00a0GB</b> &lt; 3') == "a(24.0 GB < 3"
