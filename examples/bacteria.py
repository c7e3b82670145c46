"""Which words of DNA tell six bacteria apart?

    python examples/bacteria.py [GENOME ...] [--letters 12 6] [--keep 20]

Reads FASTA files, a species each; if none are given, the excerpts of 200,000 bases that
come with the package. Fragments of 1000 bases are drawn from the first nine tenths of each
and learned from: all words of twelve letters, of which there are 16.7 million, then all of
six. The score is that of fragments from the last tenth, which was never learned from.
A word and its reverse complement count as one, as nobody knows a fragment's strand.
"""

import argparse
import sys
import time

import numpy as np

from shortlist import Mission
from shortlist._scoring import evaluate
from shortlist.demo import genomes
from shortlist.sources.fasta import FastaSource

# Words by which two kinds of bacteria know DNA of their own kind, and take up no other.
# Danner et al., Gene 11 (1980); Goodman and Scocca, PNAS 85 (1988).
UPTAKE_WORDS = {"Haemophilus": "AAGTGCGGT", "Neisseria": "GCCGTCTGAA"}
SHOWN = 4
_OTHER_STRAND = str.maketrans("ACGT", "TGCA")


class Reporter:
    """Says on stderr, once a pass, what is going on."""

    def __init__(self):
        self.stage, self.begun = None, time.perf_counter()

    def __call__(self, progress):
        """Hear of a block."""
        if progress.stage != self.stage:
            self.stage = progress.stage
            seconds = time.perf_counter() - self.begun
            print(f"  {seconds:5.1f} s  {self.stage} ...", file=sys.stderr, flush=True)


def is_known(word):
    """Whether a word, on either strand, holds one that bacteria themselves look for."""
    strands = (word, word[::-1].translate(_OTHER_STRAND))
    return any(known in strand for known in UPTAKE_WORDS.values() for strand in strands)


def print_words(shortlist):
    """Print the best words of every species: those that speak for it."""
    width = max(map(len, shortlist.margin_labels))
    marked = False
    for margin, species in enumerate(shortlist.margin_labels):
        of_species = (shortlist.margin == margin) & (shortlist.weights > 0)
        best = [shortlist.names[i] for i in np.flatnonzero(of_species)[:SHOWN]]
        marked |= any(map(is_known, best))
        words = (word + " *"[is_known(word)] for word in best)
        print(f"  {species:{width}}  {' '.join(words)}".rstrip())
    if marked:
        known = ", ".join(f"{word} ({kind})" for kind, word in UPTAKE_WORDS.items())
        print(
            f"  * holds the word by which bacteria know their own kind's DNA: {known}"
        )


def choose_words(paths, letters, keep, coverage):
    """Choose words of so many letters, print them and their score."""
    train = FastaSource(
        paths,
        k=letters,
        canonical=True,
        fragment=1000,
        coverage=coverage,
        region=(0.0, 0.9),
    )
    test = train.part((0.9, 1.0), coverage=5.0, seed=1)
    print(
        f"words of {letters} letters: {4**letters:,} possible, {keep} to be chosen for "
        f"each species, from {train.size:,} fragments",
        flush=True,
    )
    selector = Mission(k=keep).fit_source(train, observe=Reporter())
    print_words(selector.shortlist_)
    score = evaluate(selector.shortlist_, test)
    n_weights = len(train.label_names) * train.n_features
    print(
        f"  held out: {score.value:.3f} of {score.n_rows} fragments recognised "
        f"({score.baseline:.3f} by always saying the commonest)\n"
        f"  sketch: at most {selector.memory}; an array of all {n_weights:,} weights "
        f"would take {8 * n_weights / 1e6:,.1f}MB\n",
        flush=True,
    )


def main():
    """Choose long words, then short ones, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", metavar="GENOME")
    parser.add_argument("--letters", type=int, nargs="+", default=[12, 6], metavar="N")
    parser.add_argument("--keep", type=int, default=20, help="words for each species")
    parser.add_argument("--coverage", type=float, default=3.0)
    options = parser.parse_args()
    paths = options.paths or genomes()
    for letters in options.letters:
        choose_words(paths, letters, options.keep, options.coverage)
    print(
        "Long words are landmarks: few of them come again elsewhere in a genome. Short\n"
        "ones are style: habits that all of a genome shares.\n\n"
        "next: python examples/bacteria.py --letters 8 --keep 200\n"
        "      python examples/bacteria.py 'your/genomes/*.fna.gz'\n"
        "      python examples/planted_ids.py"
    )


if __name__ == "__main__":
    main()
