"""Which method, from what is known about the data: one table, read from the top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from shortlist._in_words import counted
from shortlist._protocols import Capabilities, ShortlistError
from shortlist._registry import SENSORS, selector, selectors
from shortlist._shortlist import Shortlist
from shortlist.evaluate._contestants import work_of
from shortlist.front._facts import Facts

#: A table is held in memory if it takes less than this share of what is free.
SHARE_OF_MEMORY = 0.25
#: Operations that a method may take: a minute or two.
MOST_WORK = 3e11
#: Rows that a trial of several methods has at most, operations that each may take in all
#: of it, and how often it chooses.
TRIAL_ROWS, MOST_TRIAL_WORK, TRIAL_FOLDS = 4000, 1e11, 3
#: Share of entries below which a table is a sparse one: text, clicks.
SPARSE = 0.1
#: Settings of whoever goes through columns that come one by one.
OF_COLUMNS = ("n_workers", "engine")


class Rule(NamedTuple):
    """A kind of data, and the methods for it, the best first."""

    kind: str
    applies: Callable[[Facts], bool]
    methods: tuple[str, ...]
    reserve: tuple[str, ...] = ()  #: if none of the others can


@dataclass(frozen=True)
class Choice:
    """A method, and why."""

    method: str
    room: str
    why: str
    kind: str = ""  #: of the data, in words
    rivals: tuple[str, ...] = ()  #: methods for a trial on parts of the rows
    n_bytes: int | None = None  #: that these rows take in memory

    def line(self, how: str = "method=") -> str:
        """Say it in one line, with the way to choose otherwise."""
        if self.method == SENSORS:  # no other method looks at the order of rows
            how = f"leaving out {how.replace('method', 'sequence')}"
        return f"{self.method} (room {self.room}): {self.why}; {how} asks for another"


def with_choice(
    shortlist: Shortlist, choice: Choice, how: str = "method="
) -> Shortlist:
    """Have a result say which method was picked, and why."""
    picked = {"method": choice.method, "room": choice.room, "why": choice.why}
    return replace(
        shortlist,
        params={**shortlist.params, "picked": picked},
        notes=(*shortlist.notes, f"picked {choice.line(how)}"),
    )


def fits(facts: Facts) -> bool:
    """Whether all rows may be held in memory."""
    if facts.must_stream or not facts.again or facts.n_bytes is None:
        return False
    return facts.memory is None or facts.n_bytes <= SHARE_OF_MEMORY * facts.memory


def _is_table(facts: Facts) -> bool:
    return facts.arrival == "rows" and fits(facts)


def _is_sparse(facts: Facts) -> bool:
    return _is_table(facts) and facts.density < SPARSE


def _is_wide(facts: Facts) -> bool:
    wide = (facts.n_features or 0) > (facts.n_rows or 0)
    return _is_table(facts) and wide


#: The first rule that applies, and of it the first method that can do what is asked for;
#: a trial on parts of the rows may prefer another. How good both are,
#: benchmarks/front_door.py measures.
RULES = (
    Rule(
        "columns that come one by one",
        lambda facts: facts.arrival == "columns",
        ("online_substitution", "grafting"),
    ),
    Rule(
        "rows that pass by once",
        lambda facts: not facts.again,
        ("mission", "barda", "sgd_iht"),
    ),
    Rule(
        "rows that stream, as was asked for",
        lambda facts: facts.must_stream,
        ("mission", "barda", "sgd_iht"),
    ),
    Rule(
        "more rows than should be held in memory",
        lambda facts: not fits(facts),
        ("mission", "barda", "sgd_iht"),
    ),
    # greedy steps on all classes at once cost the square of their number
    Rule(
        "sparse rows of several classes",
        lambda facts: _is_sparse(facts) and facts.n_classes > 2,
        ("mission", "mrmr", "barda", "foba", "online_substitution", "gsr", "relieff"),
    ),
    Rule(
        "sparse rows",
        _is_sparse,
        ("foba", "online_substitution", "mission", "barda", "mrmr", "gsr", "relieff"),
    ),
    Rule(
        "more features than rows",
        _is_wide,
        ("foba", "online_substitution", "gsr", "mrmr", "relieff"),
        ("mission", "barda"),
    ),
    Rule(
        "more rows than features",
        _is_table,
        ("foba", "online_substitution", "gsr", "mrmr", "relieff"),
        ("mission", "barda"),
    ),
)


def choose(facts: Facts) -> Choice:
    """Pick a method and its room.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    Choice

    Examples
    --------
    >>> from shortlist.front import Facts, choose
    >>> table = Facts("rows", n_rows=62, n_features=2000, n_nonzeros=124_000,
    ...               n_bytes=3_968_000, memory=8 * 10**9, n_classes=2)
    >>> choose(table).room
    'table'
    >>> print(choose(Facts("rows", again=False)).line())
    mission (room sketch): rows that pass by once; method= asks for another
    """
    if facts.arrival == "sequence":
        return Choice(SENSORS, "table", "labels of rows that follow each other in time")
    rule = next(rule for rule in RULES if rule.applies(facts))
    kind = f"{rule.kind}{_numbers(facts)}"
    refused: list[tuple[str, str]] = []
    for method in (*rule.methods, *rule.reserve, *_others(facts, rule)):
        reason = why_not(selector(method), facts)
        if reason is None:
            why, rivals = _in_words(kind, refused), _rivals(rule, facts)
            room = selector(method).room
            return Choice(method, room, why, kind, rivals, facts.n_bytes)
        refused.append((method, reason))
    also = ["substitutes"] if facts.holds_rows else []
    asked = ", ".join([*sorted(facts.settings), *also]) or f"loss {facts.loss}"
    raise ShortlistError(
        f"no method for {rule.kind} goes with what was asked for ({asked}); "
        f"{refused[0][0]}: {refused[0][1]}"
    )


def _rivals(rule: Rule, facts: Facts) -> tuple[str, ...]:
    """Methods that may be tried on parts of the rows, if these are in memory."""
    if not _is_table(facts):
        return ()
    part = replace(facts, n_rows=min(facts.n_rows or 0, TRIAL_ROWS))
    cheap = [
        name
        for name in rule.methods
        if why_not(selector(name), facts) is None
        and why_not(selector(name), part, MOST_TRIAL_WORK / _n_fits(name, facts))
        is None
    ]
    return tuple(cheap)


def _n_fits(method: str, facts: Facts) -> int:
    """How often a method chooses in a trial."""
    one_for_all = selector(method).nested or selector(method).path
    return TRIAL_FOLDS * (1 if one_for_all else facts.n_budgets)


def why_not(
    capabilities: Capabilities, facts: Facts, most_work: float = MOST_WORK
) -> str | None:
    """Why a method cannot, or should not, be the one; None: it may."""
    if missing := facts.settings - set(known_settings(capabilities, facts.arrival)):
        return f"has no setting {min(missing)}"
    if facts.holds_rows and capabilities.room in ("rows", "sketch"):
        return "does not hold the rows, in which substitutes are looked for"
    if facts.loss != "auto" and _base_loss(facts.loss) not in capabilities.losses:
        return f"does not know the loss {facts.loss}"
    in_memory = capabilities.room == "table" or _is_table(facts)
    if in_memory and facts.n_rows and facts.n_features:
        size = facts.n_rows, facts.n_features, facts.k, facts.n_classes
        work = work_of(capabilities.method, *size, facts.density)
        if work > most_work:
            return f"would take {work / 3e9 / 60:,.0f} minutes"
    return None


def known_settings(capabilities: Capabilities, arrival: str) -> tuple[str, ...]:
    """Settings that a method has for data that come as columns, or as rows."""
    by_column = capabilities.room == "columns" and arrival == "columns"
    return (*capabilities.options, *(OF_COLUMNS if by_column else ()))


def _base_loss(loss: str) -> str:
    from shortlist.losses import binary_of, get_loss

    return str(binary_of(get_loss(loss)).name)


def _others(facts: Facts, rule: Rule) -> list[str]:
    """Methods that nobody would pick, but for settings that only they have."""
    if not facts.settings:
        return []
    rooms = {"columns"} if facts.arrival == "columns" else {"sketch", "rows"}
    if _is_table(facts):
        rooms |= {"table"}
    known = [c.method for c in selectors().values() if c.room in rooms]
    return [name for name in known if name not in (*rule.methods, *rule.reserve)]


def _numbers(facts: Facts) -> str:
    """How much there is, in brackets, as far as somebody knows."""
    parts = []
    if facts.n_rows is not None:
        parts.append(counted(facts.n_rows, "row"))
    if facts.n_features is not None:
        parts.append(counted(facts.n_features, "feature"))
    if facts.density < SPARSE:
        parts.append(f"{facts.density:.2%} not zero")
    if not facts.must_stream and facts.n_bytes is not None and not fits(facts):
        parts.append(f"{facts.n_bytes / 1e9:,.1f} GB")
    return f" ({', '.join(parts)})" if parts else ""


def _in_words(why: str, refused: list[tuple[str, str]]) -> str:
    if not refused:
        return why
    first, reason = refused[0]
    return f"{why}, as {first} {reason}"
