"""Where copies of recorded events go: a file, standard output, an OpenTelemetry collector.

The log itself comes first and knows nothing of them; whatever a sink does, no run notices.
"""

from omni.telemetry.sinks.base import Recorded, RunFacts, Sink
from omni.telemetry.sinks.pipeline import Counts, Pipeline

__all__ = ["Counts", "Pipeline", "Recorded", "RunFacts", "Sink"]
