"""Coordinate descent for least squares under an l1 penalty, on inner products alone."""

from shortlist.kernels._jit import kernel


@kernel
def shrink(gram, corr, penalty, w, image, tol):
    """Minimise ``w' gram w / 2 - corr' w + sum_a penalty[a] |w[a]|`` over w in place.

    ``image``, which is ``gram w``, follows. Goes on, 10,000 rounds at most, until no move
    in a round would change a slope by more than ``tol``; a round over all weights is
    followed by rounds over those that are not 0. Returns the number of rounds.
    """
    n = corr.shape[0]
    everyone = True
    for done in range(10_000):
        largest = 0.0
        for a in range(n):
            square = gram[a, a]
            if square <= 0.0 or not (everyone or w[a] != 0.0):
                continue
            slope = corr[a] - image[a] + square * w[a]
            size = abs(slope) - penalty[a]
            value = 0.0
            if size > 0.0:
                value = size / square if slope > 0.0 else -size / square
            move = value - w[a]
            if move != 0.0:
                w[a] = value
                largest = max(largest, abs(move) * square)
                for b in range(n):
                    image[b] += gram[a, b] * move
        if largest <= tol:
            if everyone:
                return done + 1
            everyone = True
        else:
            everyone = False
    return 10_000
