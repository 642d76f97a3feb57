"""Finite automata over the ten digits, made from the patterns of Google's metadata."""
try:
    import re._constants as sre
    import re._parser as parser
except ImportError:  # before Python 3.11
    import sre_constants as sre
    import sre_parse as parser

DIGITS = range(10)
# No national number has more digits than this, so neither need a repetition.
LONGEST = 17


class Automaton:
    """States with empty moves and with moves on a digit; patterns are added to it."""

    def __init__(self):
        self.empty = []
        self.moves = []

    def add(self, pattern, open_ended=False):
        """(first, last) state of the pattern; open-ended: any digits may follow it."""
        first = self._state()
        accepted = self._sequence(parser.parse(pattern), first)
        last = self._state()
        self.empty[accepted].append(last)
        if open_ended:
            self.moves[last].append((frozenset(DIGITS), last))
        return first, last

    def begin(self, states):
        """The state set before the first digit."""
        return self._tidy(self._closure(states))

    def after(self, states, digit):
        """The state set that a digit leads to."""
        reached = {end for s in states for digits, end in self.moves[s] if digit in digits}
        return self._tidy(self._closure(reached))

    def _state(self):
        self.empty.append([])
        self.moves.append([])
        return len(self.empty) - 1

    def _sequence(self, items, at):
        for op, argument in items:
            at = self._item(op, argument, at)
        return at

    def _item(self, op, argument, at):
        if op is sre.LITERAL:
            return self._step({int(chr(argument))}, at)
        if op is sre.IN:
            return self._step(_digits_of(argument), at)
        if op is sre.SUBPATTERN:
            return self._sequence(argument[-1], at)
        if op is sre.BRANCH:
            return self._branch(argument[1], at)
        if op is sre.MAX_REPEAT:
            return self._repeat(argument, at)
        if op is sre.AT and argument is sre.AT_END:
            return at
        raise ValueError(f"a pattern with {op} is not understood")

    def _branch(self, alternatives, at):
        end = self._state()
        for alternative in alternatives:
            begin = self._state()
            self.empty[at].append(begin)
            self.empty[self._sequence(alternative, begin)].append(end)
        return end

    def _repeat(self, argument, at):
        low, high, items = argument
        for _ in range(low):
            at = self._sequence(items, at)
        end = self._state()
        self.empty[at].append(end)
        for _ in range(min(high, LONGEST) - low):
            at = self._sequence(items, at)
            self.empty[at].append(end)
        return end

    def _step(self, digits, at):
        end = self._state()
        self.moves[at].append((frozenset(digits), end))
        return end

    def _closure(self, states):
        seen = set(states)
        todo = list(states)
        while todo:
            for following in self.empty[todo.pop()]:
                if following not in seen:
                    seen.add(following)
                    todo.append(following)
        return seen

    def _tidy(self, states):
        """Without the states that only pass on by empty moves."""
        return frozenset(s for s in states if self.moves[s] or not self.empty[s])


def _digits_of(items):
    digits = set()
    for op, argument in items:
        if op is sre.LITERAL:
            digits.add(int(chr(argument)))
        elif op is sre.RANGE:
            digits.update(range(int(chr(argument[0])), int(chr(argument[1])) + 1))
        elif op is sre.CATEGORY and argument is sre.CATEGORY_DIGIT:
            digits.update(DIGITS)
        else:
            raise ValueError(f"a set with {op} is not understood")
    return digits
