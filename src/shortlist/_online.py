"""The one loop over examples that the rooms ``rows`` and ``sketch`` share.

A selector of these rooms is a *rule*: how to hold its weights and how to learn from a
block. Everything around that is here, once: labels become what the loss wants, unwanted
features are left out, progressive (test, then train) loss and accuracy are traced, the
candidates are refitted on rows restricted to them and cut to the budget.

The stages of a run are passes over the data:

1. ``explore``: the rule learns, ``passes`` times;
2. ``refit``: the rule's candidates, usually more than k, are refitted, ranked by the
   score |w| sqrt(evidence + ridge), and the k best stay, in stages if the restricted rows
   were kept (``shortlist._cutting``). Evidence is the information
   about a weight, on average between a model without weights and the refitted one
   (``shortlist._steps.curvatures_on_the_way`` says why). If rows were few and nonzeros too
   many to keep, as many candidates stay as all rows can be kept for, and the stage comes
   ``again``;
3. ``settle``: the k are refitted. If the rows were kept in stage 2 this needs
   no pass at all, and if they lie in a file of their own (``shortlist._spill``) none over
   the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from shortlist._calibrating import (
    GroupsApart,
    apart,
    calibrate,
    groups_apart,
    set_apart,
    without,
)
from shortlist._class_weight import ClassWeight, first_totals, weigh
from shortlist._cutting import cut_in_stages, cut_to_keep, found_by, wald_scores
from shortlist._late_rows import LateRows
from shortlist._preparing import AS_IT_IS, Preparing
from shortlist._protocols import (
    NOT_SAVED,
    DataError,
    Floats,
    Head,
    Ids,
    Ints,
    RowBlock,
    RowSource,
    ShortlistError,
    Standing,
)
from shortlist._refit import Coordinates, Refit, coordinates, places_among
from shortlist._rules import Found, Rule, best, bias_rate
from shortlist._shortlist import Shortlist
from shortlist._spill import KeptRows, RowSpill
from shortlist._steps import HITS, LOSS, NORM_WEIGHT, WEIGHT, mean_norm
from shortlist._targets import (
    NO_ROWS,
    NO_WEIGHT,
    Kept,
    Target,
    check_sizes,
    empty_classes,
    kept_rows,
    notes_on,
    rows_to_skip,
    target_of,
    with_codes,
)
from shortlist._trace import Trace
from shortlist._weight_errors import weight_errors
from shortlist.kernels.csr import row_slice
from shortlist.kernels.masking import Mask, MaskedRows, drop, mask_of, renumber
from shortlist.losses import spell
from shortlist.sources._distinct_names import collision_params

EXPLORE, REFIT, SETTLE, DONE = "explore", "refit", "settle", "done"
AGAIN = "refit again"


OUT_OF_RANGE = (
    "values of features are too large, too small or too unequal to learn from; scale "
    "them to about 1"
)
#: Where all values are smaller than this, their squares vanish.
_SMALLEST = 1e-100
#: What is too large to learn from may overflow on the way to being refused for it.
_unheard = np.errstate(over="ignore", invalid="ignore", divide="ignore")
_NO_IDS: Ids = np.empty(0, np.uint64)


class Work(NamedTuple):
    """A block that is ready to be learned from."""

    block: RowBlock  #: with encoded labels, prepared, without unwanted features
    n_read: int  #: rows that there were, bad ones included
    kept: Kept = None  #: which of these there were are left; None: all


@dataclass
class OnlineState:
    """Where a run stands."""

    target: Target
    model: Any
    never: Mask | None
    always: Ids
    n_features: int | None
    class_totals: Floats  #: see ``shortlist._class_weight``
    class_counts: Ints  #: rows of each class
    skip: str = NO_ROWS  #: which rows to leave out
    stage: str = EXPLORE
    pass_number: int = 1
    rows_in_pass: int = 0
    n_examples: int = 0
    n_skipped: int = 0
    trace: Trace = field(default_factory=Trace)
    refit: Refit | None = None
    parses: bool = False  #: the data are text, which takes time to read again
    spill: RowSpill | None = field(default=None, metadata=NOT_SAVED)
    unmet: Ids = field(default_factory=lambda: _NO_IDS)  #: of always, not seen so far
    late: LateRows = field(default_factory=LateRows)  #: if weights are cut as they are
    groups: GroupsApart | None = None  #: if groups of rows are known


@dataclass(frozen=True)
class OnlineLearner:
    """An online selector: an algorithm for engines, made of a rule and settings.

    Parameters
    ----------
    method, room : str
        For the result.
    rule : Rule
        How weights are held and learned.
    k : int
        The budget.
    loss : str or loss, default="auto"
    classes : sequence of labels, default=None
        All classes there are, if the first rows may not show them.
    passes : int, default=1
        Passes of stage ``explore``.
    refit : bool, default=True
        Whether to refit and cut; if False the rule's own weights and scores count.
    budget : {"per_class", "shared"}, default="per_class"
        With several margins: k features for each, or k distinct ones in all.
    ridge : float, default=0.2
        Ridge of the refit, as a share of the mean squared distance of restricted rows
        from their mean.
    always, never : sequence of names, default=()
        Features to keep (they count in k) and to leave out.
    preparing : Preparing
        What is done to the values of rows first.
    class_weight : None, "balanced" or mapping, default=None
        Importance of examples by their class.
    params : mapping, default={}
        Settings to publish with the result.
    two_classes : loss, default=None
        What loss="auto" means for two classes; None: what ``_targets`` says.
    many_classes : loss, default=None
        Likewise for more.
    row_groups : ndarray of int of shape (n_rows,), default=None
        Group of each row of the source, from 0: whole groups are set apart where a refit
        judges itself by rows that it does not learn from. What comes of them goes into the
        state; nobody needs them after ``start``.
    """

    method: str
    room: str
    rule: Rule
    k: int
    loss: Any = "auto"
    classes: Sequence[Any] | None = None
    passes: int = 1
    refit: bool = True
    budget: str = "per_class"
    ridge: float = 0.2
    always: Sequence[str] = ()
    never: Sequence[str] = ()
    preparing: Preparing = AS_IT_IS
    class_weight: ClassWeight = None
    params: Mapping[str, Any] = field(default_factory=dict)
    two_classes: Any = None
    many_classes: Any = None
    row_groups: Ints | None = field(default=None, compare=False)

    def knowing_groups(self, groups: Ints) -> OnlineLearner:
        """The same for rows of these groups."""
        return replace(self, row_groups=groups)

    def start(self, source: RowSource, head: Head) -> OnlineState:
        """Fresh state for a source that begins like this."""
        target = target_of(source, self.loss, self.classes, head.labels)
        return self.begin(source, target, head.rows)

    def begin(
        self, source: RowSource, target: Target, rows: Sequence[RowBlock]
    ) -> OnlineState:
        """Fresh state for a target that is known; rows are some of the first."""
        if self.loss == "auto" and target.classes is not None:
            many = target.loss.is_vector
            own = self.many_classes if many else self.two_classes
            target = target if own is None else replace(target, loss=own)
        if not source.reiterable and (self.refit or self.passes > 1):
            again = "a refit reads" if self.refit else f"passes={self.passes} reads"
            raise ShortlistError(
                f"{source.name} can be read only once, and {again} it again; "
                "choose a one-pass recipe"
            )
        always = np.unique(source.ids(self.always)) if self.always else _NO_IDS
        if len(always) > self.k:
            raise ShortlistError(
                f"always= names {len(always)} features, more than the budget k={self.k}"
            )
        barred = np.unique(source.ids(self.never)) if self.never else _NO_IDS
        if len(both := np.intersect1d(always, barred)):
            name = source.names(both[:1])[0]
            raise ShortlistError(f"{name!r} is named by always and by never")
        never = mask_of(barred) if self.never else None
        prepared = [self.preparing.apply(block) for block in rows]
        if never is not None:
            prepared = [drop(never, block) for block in prepared]
        largest = max(
            (np.abs(b.values).max(initial=0.0) for b in prepared), default=0.0
        )
        if 0.0 < largest < _SMALLEST:
            raise DataError(f"{source.name}: {OUT_OF_RANGE}")
        model = self.rule.create(target, source.n_features, prepared)
        totals, n_features = first_totals(self.class_weight, target), source.n_features
        counts = target.count(np.empty(0))
        state = OnlineState(target, model, never, always, n_features, totals, counts)
        state.unmet = always
        state.skip, state.parses = rows_to_skip(source), source.unit == "bytes"
        if self.row_groups is not None and self.refit:
            state.groups = groups_apart(self.row_groups)
        return state

    def ahead(self, state: OnlineState, block: RowBlock) -> Work:
        """Do what needs nothing that ``step`` changes; ``step`` takes what comes of it."""
        encoded = with_codes(state.target, block, skip=state.skip)
        work = self.ready(state, encoded, block.n_rows)
        kept = None
        if encoded.n_rows < block.n_rows:
            kept = kept_rows(state.target, block, state.skip)
        check_sizes(work.block, kept)
        return work if state.groups is None else work._replace(kept=kept)

    def ready(self, state: OnlineState, block: RowBlock, n_read: int) -> Work:
        """The same for a block whose labels are encoded already."""
        block = self.preparing.apply(block)
        if state.never is not None:
            block = drop(state.never, block)
        return Work(block, n_read)

    def replay(self, state: OnlineState) -> Iterator[KeptRows] | None:
        """Rows of the pass that begins, if they were kept, so that none need be read."""
        if state.stage not in (AGAIN, SETTLE):
            return None
        if state.spill is None or not state.spill.complete:
            return None
        return self._settling(state, state.spill)

    def _settling(self, state: OnlineState, spill: RowSpill) -> Iterator[KeptRows]:
        assert state.refit is not None
        places = places_among(spill.ids, state.refit.chosen.ids)
        for kept in spill:
            yield kept._replace(rows=renumber(places, kept.rows))

    def step(self, state: OnlineState, block: RowBlock | Work | KeptRows) -> None:
        """Learn from a block, in place."""
        if isinstance(block, KeptRows):
            self._learn_again(state, block.rows)
            return
        work = block if isinstance(block, Work) else self.ahead(state, block)
        first = state.stage == EXPLORE and state.pass_number == 1
        rows = weigh(self.class_weight, work.block, state.class_totals, counting=first)
        if state.stage == EXPLORE:
            if first:
                state.n_examples += rows.n_rows
                state.class_counts += state.target.count(rows.y)
                state.n_skipped += work.n_read - rows.n_rows
                if len(state.unmet):
                    met = rows.ids[np.isin(rows.ids, state.unmet)]
                    state.unmet = np.setdiff1d(state.unmet, met)
                if state.groups is not None:
                    kept = work.kept
                    state.groups.meet(state.rows_in_pass, work.n_read, kept)
            if self.refit:
                which = apart(state.rows_in_pass, rows.n_rows, state.groups)
                rows = without(rows, which)
            state.rows_in_pass += rows.n_rows
            self._explore(state, rows)
            if self._cuts_at_once:
                state.late.add(rows)
        elif state.refit is not None:
            restricted = state.refit.restricted(rows)
            if state.spill is not None and state.stage == REFIT:
                position = work.block.position
                state.spill.add(KeptRows(restricted, work.n_read, position))
            self._learn_again(state, restricted)

    def _learn_again(self, state: OnlineState, rows: MaskedRows) -> None:
        """Learn from restricted rows, but for those that calibrate the weights."""
        assert state.refit is not None
        which = apart(state.rows_in_pass, len(rows.y), state.groups)
        state.rows_in_pass += len(rows.y)
        if state.stage == SETTLE:
            set_apart(state.refit, rows, which)
        state.refit.step(without(rows, which))

    def _explore(self, state: OnlineState, block: RowBlock) -> None:
        """Learn window by window, so that the trace does not depend on blocks."""
        totals, trace, begin = self.rule.totals(state.model), state.trace, 0
        while begin < block.n_rows:
            end = min(block.n_rows, begin + trace.room())
            part = row_slice(block, begin, end)
            self.rule.learn(state.model, state.target, part)
            trace.advance(end - begin, totals)
            begin = end

    def candidates(self, state: OnlineState) -> Ids:
        """Ids of all features that the result could have now."""
        held = [state.always, self.rule.candidates(state.model)]
        if state.refit is not None:
            held.append(state.refit.chosen.id_of())
        return np.unique(np.concatenate(held))

    @_unheard
    def next_pass(self, state: OnlineState) -> bool:
        """Close a pass; True if another one is wanted."""
        if state.groups is not None and state.pass_number == 1:
            state.groups.all_met(state.rows_in_pass)
        state.rows_in_pass = 0
        if state.stage == EXPLORE:
            self._check_range(state)
            if state.pass_number < self.passes:
                state.pass_number += 1
                return True
            if not self.refit:
                state.stage = DONE
                return False
            state.stage, state.refit = REFIT, self._refit(state)
            if state.parses:
                state.spill = RowSpill(state.refit.chosen.ids)
        elif state.stage in (REFIT, AGAIN) and state.refit is not None:
            state.refit.finish()
            budget = self.k, self.budget, state.always
            if state.refit.exact:
                state.refit = cut_in_stages(state.refit, *budget)
                state.stage = DONE
            else:
                few, more_than_k = cut_to_keep(state.refit, *budget)
                few.information[:] = few.evidence[:] = 0.0
                state.refit = self._refit(state, few)
                state.stage = AGAIN if more_than_k else SETTLE
        else:
            if state.refit is not None:  # few enough rows may have been kept by now
                state.refit.finish()
                calibrate(state.refit, wald_scores(state.refit), state.groups)
            state.stage = DONE
        state.pass_number += 1
        if state.stage == DONE and state.spill is not None:
            state.spill.close()
        return state.stage != DONE

    def _check_range(self, state: OnlineState) -> None:
        """Refuse values whose squares single precision cannot hold."""
        totals = self.rule.totals(state.model)
        # the first number of a regression is learned from and not scored
        if state.n_examples and totals[WEIGHT] == totals[NORM_WEIGHT] == 0.0:
            raise DataError(NO_WEIGHT)
        size = float(mean_norm(totals))
        if not 1e-30 < size < 1e30:
            raise DataError(OUT_OF_RANGE)

    def _refit(self, state: OnlineState, chosen: Coordinates | None = None) -> Refit:
        if chosen is None:
            found = self.rule.found(state.model, state.target, state.always)
            weight, scale = found.weight, found.scale
            if scale is not None:
                weight = weight * scale
            chosen = coordinates(found.ids, found.margin, weight, found.bias, scale)
        rate = bias_rate(state.target)
        return Refit(state.target, chosen, ridge_share=self.ridge, bias_rate=rate)

    @property
    def _cuts_at_once(self) -> bool:
        """Whether what is published is a part of a model that nothing refits."""
        return not self.refit and getattr(self.rule, "weighs_all", False)

    def _best(self, state: OnlineState, found: Found) -> np.ndarray:
        ids, margin, score = found.ids, found.margin, found.score
        return best(ids, margin, score, self.k, self.budget, state.always)

    @_unheard
    def result(self, state: OnlineState, source: RowSource) -> Shortlist:
        """What has been learned so far; the state stays usable."""
        self._check_range(state)
        if state.refit is None:
            found = self.rule.found(state.model, state.target, state.always)
        else:
            if state.stage != DONE:  # broken off: the rows so far count
                state.refit.finish()
            found = found_by(state.refit)
        chosen = self._best(state, found)
        ids = found.ids[chosen]
        if not (np.isfinite(found.weight).all() and np.isfinite(found.bias).all()):
            raise DataError(f"{source.name}: {OUT_OF_RANGE}")
        target, totals, bias = state.target, self.rule.totals(state.model), found.bias
        if self._cuts_at_once and len(ids) < len(found.ids):
            kept = ids, found.margin[chosen], found.weight[chosen]
            bias = state.late.bias(target.loss, *kept, bias)
        late_loss = state.trace.late_loss(totals)
        errors = weight_errors(found, target.loss, state.refit, late_loss)
        settings = {**self.params, **self.preparing.as_params()}
        if state.refit is not None and state.refit.doubt:
            settings["doubt"] = state.refit.doubt
        if hasattr(self.rule, "decided"):  # by the first rows
            settings |= self.rule.decided(state.model)
        settings |= empty_classes(target, state.class_counts)
        history = getattr(self.rule, "history", None)
        more = {} if history is None else history(state.model, target)
        names, others = self._names(state, source, ids)
        return Shortlist(
            method=self.method,
            room=self.room,
            loss=spell(target.loss),
            k=self.k,
            budget=self.budget if target.n_margins > 1 else "shared",
            ids=ids,
            names=names,
            margin=found.margin[chosen],
            weights=found.weight[chosen],
            scores=found.score[chosen],
            errors=errors[chosen],
            intercept=bias,
            classes=target.classes,
            n_examples=state.n_examples,
            n_features=state.n_features,
            params={**settings, **collision_params(source)},
            trace=state.trace.arrays(totals, target.classes is not None)
            | more
            | others,
            notes=(
                *notes_on(target, state.n_skipped, source, state.class_counts),
                *_notes_on_unmet(state, source),
            ),
        )

    def _names(
        self, state: OnlineState, source: RowSource, ids: Ids
    ) -> tuple[tuple[str, ...], dict[str, np.ndarray]]:
        """Names of chosen features, and of some that were not, for the trace."""
        remembered = getattr(self.rule, "remembered", None)
        if remembered is None:
            return tuple(source.names(ids)), {}
        left = np.setdiff1d(remembered(state.model), ids)
        # in one call, as a file of words may be read again for it
        names = source.names(np.concatenate([ids, left]))
        others = {"left_ids": left, "left_names": np.array(names[len(ids) :], np.str_)}
        return tuple(names[: len(ids)]), others

    def standing(self, state: OnlineState) -> Standing:
        """Stage that is running, its mean progressive loss and accuracy."""
        totals = self.rule.totals(state.model)
        if state.refit is not None:
            totals = state.refit.totals
        weight = totals[WEIGHT] or np.nan
        hits = totals[HITS] if state.target.classes is not None else np.nan
        return Standing(state.stage, totals[LOSS] / weight, hits / weight)


def _notes_on_unmet(state: OnlineState, source: RowSource) -> list[str]:
    """Say which features that are always in no row has had: names misspelt, perhaps."""
    names = source.names(state.unmet) if len(state.unmet) else []
    return [
        f"no row has {name!r}, which is always in and so takes up a place of k"
        for name in names
    ]
