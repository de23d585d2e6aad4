"""The measurements behind an oracle run, and count what they say."""

from unimodal.bench import oracles


def test_decisions_on_a_lattice_of_1e8_arms():
    found = oracles.lattice(decisions=300)
    assert found["decisions"] == 300
    assert 0 < found["median_us"] <= found["p99_us"]
    assert 50 < found["peak_mb"] < 500
    assert 300 / 10 < found["look_ups"] <= 500 + 300 / 2 + 128  # the last walks may pass the bound


def test_climbs_on_preferential_attachment_end_near_the_peak():
    """All of 20 seeds took at most 2,040 rounds."""
    climbs = oracles.preferential(nodes=3000, seeds=[0, 1], rounds=20_000)
    assert climbs["reached"] == [True, True]
    assert climbs["largest_share"] == max(climbs["look_ups"]) / 3000 <= 1
