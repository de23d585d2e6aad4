# The public names, each in one line: `unimodal.__init__` reads them from here.
from . import (
    agents as agents,
)
from . import (
    campaigns as campaigns,
)
from . import (
    engines as engines,
)
from . import (
    errors as errors,
)
from . import (
    families as families,
)
from . import (
    graphs as graphs,
)
from . import (
    history_analysis as history_analysis,
)
from . import (
    inference as inference,
)
from . import (
    inspection as inspection,
)
from . import (
    lookup as lookup,
)
from . import (
    policies as policies,
)
from . import (
    problems as problems,
)
from . import (
    report as report,
)
from . import (
    results as results,
)
from . import (
    studies as studies,
)
from . import (
    testing as testing,
)
from .agents import Agent as Agent
from .agents import Decision as Decision
from .agents import PastData as PastData
from .campaigns import Campaign as Campaign
from .campaigns import Explanation as Explanation
from .campaigns import verify as verify
from .campaigns.alarms import Alarm as Alarm
from .campaigns.alarms import alarms as alarms
from .engines.line_search import LSE as LSE
from .errors import UnimodalError as UnimodalError
from .families import Bernoulli as Bernoulli
from .families import Bounded as Bounded
from .families import Exponential as Exponential
from .families import Family as Family
from .families import Gaussian as Gaussian
from .families import Poisson as Poisson
from .families import Scaled as Scaled
from .graphs import Graph as Graph
from .history_analysis.replay import Replay as Replay
from .history_analysis.replay import replay as replay
from .history_analysis.second_peaks import second_peaks as second_peaks
from .inference.certificate import Certificate as Certificate
from .inference.several_peaks import SecondPeaks as SecondPeaks
from .inspection import View as View
from .inspection import inspect as inspect
from .kernels import random as random
from .lookup import Oracle as Oracle
from .policies import IMED as IMED
from .policies import IMEDUB as IMEDUB
from .policies import KLUCB as KLUCB
from .policies import KLUCBUB as KLUCBUB
from .policies import MINTS as MINTS
from .policies import NPTS as NPTS
from .policies import OSUB as OSUB
from .policies import TS as TS
from .policies import UTS as UTS
from .policies import AroundLeader as AroundLeader
from .policies import Discounted as Discounted
from .policies import EveryArm as EveryArm
from .policies import PeakUTS as PeakUTS
from .policies import Policy as Policy
from .policies import Probe as Probe
from .policies import Restarting as Restarting
from .policies import ScoutUTS as ScoutUTS
from .policies import UniTT as UniTT
from .policies import Windowed as Windowed
from .problems import Interval as Interval
from .problems import Moving as Moving
from .problems import Problem as Problem
from .problems import delays as delays
from .results.budget import UB3 as UB3
from .results.budget import FixedBudget as FixedBudget
from .results.budget import Uniform as Uniform
from .results.identify import Identification as Identification
from .results.identify import identify as identify
from .results.interval_search import Narrowed as Narrowed
from .results.interval_search import narrow as narrow
from .results.interval_search import regret_by_horizon as regret_by_horizon
from .results.load import load as load
from .results.merge import merge as merge
from .results.result import Result as Result
from .results.simulate import simulate as simulate
from .results.stopping import Certified as Certified
from .service.client import Client as Client
from .version import __version__ as __version__
