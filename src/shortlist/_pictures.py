"""Pictures that a result offers of itself; ``_displays`` draws them when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from shortlist._displays import MembershipDisplay, PathDisplay, WeightsDisplay


class Pictures:
    """Pictures of a Shortlist, each with its data as a frame."""

    def plot_weights(self, ax: Any = None, *, most: int = 30) -> WeightsDisplay:
        """Draw the weights of the chosen features, or scores if there are none.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        most : int, default=30
            Entries to draw of a class, the best.

        Returns
        -------
        display : WeightsDisplay
            With ``ax_``, ``figure_`` and, as ``frame``, the data.
        """
        from shortlist._displays import WeightsDisplay

        return WeightsDisplay(cast(Any, self)).plot(ax=ax, most=most)

    def plot_path(
        self, ax: Any = None, *, what: str = "auto", most: int = 12
    ) -> PathDisplay:
        """Draw weights, or the objective, at every budget, and how budgets did.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        what : {"auto", "weight", "objective", "held_out"}, default="auto"
            "auto": weights at every budget of a search, and the score or loss of budgets on
            rows held out (``k="auto"``, ``FoBaCV``), as far as known.
        most : int, default=12
            Features in the legend.

        Returns
        -------
        display : PathDisplay
            With ``ax_``, ``figure_`` and, as ``frame`` and ``held_out``, the data.
        """
        from shortlist._displays import PathDisplay

        return PathDisplay(cast(Any, self)).plot(what, ax=ax, most=most)

    def plot_membership(self, ax: Any = None, *, most: int = 40) -> MembershipDisplay:
        """Draw which features were members from when to when; room ``rows`` only.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        most : int, default=40
            Features to draw, those that were members longest.

        Returns
        -------
        display : MembershipDisplay
            With ``ax_``, ``figure_`` and, as ``frame``, the stays.
        """
        from shortlist._displays import MembershipDisplay

        return MembershipDisplay(cast(Any, self), most).plot(ax=ax)
