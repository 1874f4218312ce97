"""What MLflow's own client reads of a trace, as JSON. Arguments: the address of the server, the id of the trace."""
import json
import os
import sys

os.environ.setdefault("MLFLOW_ENABLE_ASYNC_LOGGING", "false")
import mlflow
from mlflow.exceptions import MlflowException

uri, trace_id = sys.argv[1:]
mlflow.set_tracking_uri(uri)


def told(assessments):
    return [
        {"id": a.assessment_id, "name": a.name, "span_id": a.span_id, "value": a.value, "rationale": a.rationale, "source": a.source.source_type}
        for a in assessments
    ]


try:
    trace = mlflow.get_trace(trace_id)
except MlflowException:
    trace = None
found = mlflow.search_traces(locations=["0"], filter_string="feedback.tool_error = '0.5'", return_type="list")
print(json.dumps({
    "assessments": told(trace.info.assessments) if trace else [],
    "searched": [t.info.trace_id for t in found],
}))
