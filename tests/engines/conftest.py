"""What hypothesis draws where a test of the engines asks for `st.from_type(um.Problem)`."""

from hypothesis import strategies as st

import unimodal as um

GRAPHS = {
    "line": um.graphs.line,
    "complete": um.graphs.complete,
    "star": lambda n: um.graphs.from_edges([(0, arm) for arm in range(1, n)]),
    "random": lambda n: um.graphs.erdos_renyi(max(n, 3), 0.6, seed=n),
    "attached": lambda n: um.graphs.barabasi_albert(max(n, 4), 2, seed=n),
}
# The highest and the lowest mean: clear, certain, close, rare.
RANGES = [(0.9, 0.1), (1.0, 0.0), (0.502, 0.5), (0.05, 0.01), (0.999, 0.9)]


@st.composite
def small_problems(draw):
    graph = GRAPHS[draw(st.sampled_from(sorted(GRAPHS)))](draw(st.integers(2, 24)))
    high, low = draw(st.sampled_from(RANGES))
    peak = draw(st.integers(0, graph.n_arms - 1))
    return um.problems.by_distance(graph, peak, high=high, low=low)


# Registered, since test modules cannot import from each other (pytest's importlib mode).
st.register_type_strategy(um.Problem, small_problems())
