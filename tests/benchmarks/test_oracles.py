"""The measurements behind an oracle run, and count what they say."""

import oracles


def test_decisions_on_a_lattice_of_1e8_arms():
    found = oracles.lattice(decisions=300)
    assert found["decisions"] == 300
    assert 0 < found["median_us"] <= found["p99_us"]
    assert 50 < found["peak_mb"] < 500
    assert 30 < found["look_ups"] <= 100 * 301**0.5 + 301 + 64  # walks, leaders, the last walk


def test_climbs_on_preferential_attachment_end_near_the_peak():
    """All of 20 seeds took at most 2,040 rounds."""
    climbs = oracles.preferential(nodes=3000, seeds=[0, 1], rounds=20_000)
    assert climbs["reached"] == [True, True]
    assert climbs["largest_share"] == max(climbs["look_ups"]) / 3000 <= 1
