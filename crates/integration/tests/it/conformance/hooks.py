"""What schemathesis leaves out, and why."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # What a request leaves out by include and exclude is missing in the answer, so that its shape
    # is no longer the schema's. routes/every_request.rs tests them.
    for name in ("include", "exclude"):
        if case.query:
            case.query.pop(name, None)
