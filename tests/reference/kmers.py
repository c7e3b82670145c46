"""FASTA, FASTQ and their k-mers, slowly and obviously: lines, slices, dictionaries."""

from typing import NamedTuple

DNA, IUPAC = "ACGT", "-ACMGRSVTWYHKDBN"
COMPLEMENT = dict(zip("ACGTRYSWKMBDHVN-", "TGCAYRSWMKVHDBN-", strict=True))


class Record(NamedTuple):
    name: str
    letters: str  # as k-mers have them
    line: int


class Result(NamedTuple):
    records: list
    skipped: int
    error: tuple | None  # line number, what was expected


class Bad(Exception):
    def __init__(self, line, what):
        super().__init__(what)
        self.line = line


def tidy(letters, line):
    """Letters in capitals, without blanks; others are bad."""
    for blank in " \t\r":
        letters = letters.replace(blank, "")
    letters = letters.upper().replace("U", "T").replace(".", "-")
    if set(letters) - set(IUPAC):
        raise Bad(line, "letters of DNA (A, C, G, T, N, ...)")
    return letters


def parse(text, on_error="raise"):
    """Records of a text of either kind: all good ones, or those before the first bad."""
    if not text.strip():
        return Result([], 0, None)
    blanks = text[: len(text) - len(text.lstrip())]
    if text.lstrip()[0] == "@":
        read = fastq
    elif text.lstrip()[0] == ">" and blanks[-1:] in ("", "\n"):
        read = fasta
    else:
        first = 1 + blanks.count("\n")
        return Result([], 0, (first, "'>' (FASTA) or '@' (FASTQ) in the beginning"))
    records, skipped = [], 0
    for record in read(text):
        if isinstance(record, Record):
            records.append(record)
        elif on_error == "raise":
            return Result(records, skipped, (record.line, str(record)))
        else:
            skipped += 1
    return Result(records, skipped, None)


def fasta(text):
    """Yield records or what is bad about them."""
    record, bad = None, None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith(">"):
            if record or bad:
                yield bad or record
            record, bad = Record(first_word(line), "", number), None
            continue
        try:
            letters = tidy(line, number)
        except Bad as fault:
            bad = bad or fault
        else:
            if record:
                record = record._replace(letters=record.letters + letters)
    if record or bad:
        yield bad or record


def fastq(text):
    """Yield reads or what is bad about them."""
    lines = text.split("\n")
    i, lost = 0, False
    while i < len(lines):
        first = lines[i].lstrip()
        below = lines[i + 2] if i + 2 < len(lines) else ""
        if not first or (lost and not (first[0] == "@" and below[:1] == "+")):
            i += 1
            continue
        lost = False
        try:
            yield four_lines(first, lines, i)
            i += 4
        except Bad as bad:
            yield bad
            lost = True
            i += 1


def four_lines(first, lines, i):
    if not first.startswith("@"):
        raise Bad(i + 1, "'@' before the name of a read")
    letters = tidy(lines[i + 1], i + 2) if i + 1 < len(lines) else ""
    if i + 2 < len(lines) and lines[i + 2] and lines[i + 2][0] != "+":
        raise Bad(i + 3, "'+' between the letters and qualities")
    if i + 3 >= len(lines):
        raise Bad(i + 1, "four lines a read")
    if not lines[i + 2]:
        raise Bad(i + 3, "'+' between the letters and qualities")
    if len(lines[i + 3].strip().encode()) != len(letters):  # a quality is a byte
        raise Bad(i + 4, f"{len(letters)} qualities, one a letter")
    return Record(first_word(first), letters, i + 1)


def first_word(header):
    return (header[1:].split() or [""])[0]


def reverse_complement(word):
    return "".join(COMPLEMENT[letter] for letter in reversed(word))


def count(letters, k, alphabet=DNA, canonical=False):
    """Count the words of a stretch of letters, in the order in which they first come."""
    counts = {}
    for i in range(len(letters) - k + 1):
        word = letters[i : i + k]
        if set(word) <= set(alphabet):
            if canonical:
                word = min(
                    word, reverse_complement(word), key=lambda w: pack(w, alphabet)
                )
            counts[word] = counts.get(word, 0) + 1
    return counts


def pack(word, alphabet=DNA):
    """The number whose digits are the letters."""
    number = 0
    for letter in word:
        number = number * len(alphabet) + alphabet.index(letter)
    return number
