// The obvious C++ loop of each policy on a line, as one writes it in an afternoon: g++ -O3.
//
// Usage: plain_loops POLICY ROUNDS SEED SECONDS < MEANS. It plays ROUNDS rounds, or fewer if SECONDS
// of the processor are over after the first K, a sweep. It prints the rounds, the rounds per second
// (without the sweep if there were fewer than ROUNDS) and the pseudo-regret.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

static std::mt19937_64 rng;
static std::vector<double> means, pulls, total;

static double uniform() { return std::uniform_real_distribution<double>(0.0, 1.0)(rng); }

static double beta(double a, double b) {
    double x = std::gamma_distribution<double>(a, 1.0)(rng);
    double y = std::gamma_distribution<double>(b, 1.0)(rng);
    return x / (x + y);
}

static double draw(int arm) { return beta(1 + total[arm], 1 + pulls[arm] - total[arm]); }

static double kl(double p, double q) {
    p = std::min(std::max(p, 1e-12), 1 - 1e-12);
    q = std::min(std::max(q, 1e-12), 1 - 1e-12);
    return p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q));
}

static double upper(int arm, double budget) {
    double mean = total[arm] / pulls[arm], low = mean, high = 1;
    for (int i = 0; i < 30; i++) {
        double middle = (low + high) / 2;
        (pulls[arm] * kl(mean, middle) <= budget ? low : high) = middle;
    }
    return low;
}

static int ts() {
    int best = 0;
    double highest = -1;
    for (int arm = 0; arm < (int)means.size(); arm++) {
        double drawn = draw(arm);
        if (drawn > highest) highest = drawn, best = arm;
    }
    return best;
}

static int klucb(long t) {
    double budget = std::log(t) + 3 * std::log(std::max(std::log(t), 1.0)), highest = -1;
    int best = 0;
    for (int arm = 0; arm < (int)means.size(); arm++) {
        double index = upper(arm, budget);
        if (index > highest) highest = index, best = arm;
    }
    return best;
}

static int uts() {
    static std::vector<long> leads(means.size());
    int leader = 0, ties = 0, last = (int)means.size() - 1;
    double highest = -1;
    for (int arm = 0; arm <= last; arm++) {
        double mean = total[arm] / pulls[arm];
        if (mean > highest) highest = mean, leader = arm, ties = 1;
        else if (mean == highest && uniform() * ++ties < 1) leader = arm;
    }
    int first = std::max(leader - 1, 0), end = std::min(leader + 1, last);
    if (leads[leader]++ % (end - first + 1) == 0) return leader;
    int best = leader;
    double most = -1;
    for (int arm = first; arm <= end; arm++) {
        double drawn = draw(arm);
        if (drawn > most) most = drawn, best = arm;
    }
    return best;
}

int main(int, char** given) {
    std::string policy = given[1];
    long rounds = std::atol(given[2]), t = 0;
    rng.seed(std::atol(given[3]));
    double seconds = std::atof(given[4]), mean;
    while (std::scanf("%lf", &mean) == 1) means.push_back(mean);
    int arms = (int)means.size();
    pulls.assign(arms, 0), total.assign(arms, 0);
    double best = *std::max_element(means.begin(), means.end()), regret = 0, took = 0;
    std::clock_t began = std::clock(), swept = began;
    while (t < rounds && took < seconds) {
        t++;
        int arm = policy == "TS" ? ts() : t <= arms ? t - 1 : policy == "UTS" ? uts() : klucb(t);
        total[arm] += uniform() < means[arm];
        pulls[arm] += 1;
        regret += best - means[arm];
        if (t == arms) swept = std::clock();
        if (t > arms && t % 64 == 0) took = double(std::clock() - swept) / CLOCKS_PER_SEC;
    }
    bool whole = t == rounds;
    double ticks = double(std::clock() - (whole ? began : swept)) / CLOCKS_PER_SEC;
    std::printf("%ld %.3f %.6f\n", t, (whole ? t : t - arms) / ticks, regret);
}
