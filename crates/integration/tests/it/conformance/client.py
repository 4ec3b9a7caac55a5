"""Drives a node by the client that was generated from its OpenAPI document."""

import sys

from headwater import AuthenticatedClient
from headwater.api.components import save_component, show_component
from headwater.api.events import delete_source_events, list_source_events
from headwater.api.sources import (
    delete_source,
    deploy_source,
    list_own_sources,
    patch_source,
    run_source,
    show_source,
)
from headwater.api.subscriptions import list_own_subscriptions, subscribe, unsubscribe
from headwater.models import DeploySource, ErrorBody, RunSource, SaveComponent, UpdateSource

CODE = """
export default {
  name: "Counter",
  version: "0.0.1",
  key: "counter",
  run(event) {
    for (let n = 1; n <= event.n; n++) this.$emit({ n }, { summary: `${n}` });
  },
};
"""

url, key = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=key)

component = save_component.sync(client=client, body=SaveComponent(component_code=CODE)).data
shown = show_component.sync(component.key, client=client).data
assert {**shown.to_dict(), "newly_saved": True} == component.to_dict(), component

deploy = DeploySource(component_id=component.id, name="First")
source = deploy_source.sync(client=client, body=deploy).data
assert source.active and source.component_id == component.id, source
assert [listed.id for listed in list_own_sources.sync(client=client).data] == [source.id]

report = run_source.sync(source.id, client=client, body=RunSource(event={"n": 3})).data
assert report.events == 3, report
page = list_source_events.sync(source.id, client=client, limit=2)
assert [event.event["n"] for event in page.data] == [3, 2], page
rest = list_source_events.sync(source.id, client=client, after=page.page_info.end_cursor)
assert [event.metadata.summary for event in rest.data] == ["1"], rest
assert rest.page_info.total_count == 3, rest

listener = deploy_source.sync(client=client, body=DeploySource(component_code=CODE)).data
pair = {"emitter_id": source.id, "listener_id": listener.id}
subscription = subscribe.sync(client=client, **pair).data
assert list_own_subscriptions.sync(client=client).data == [subscription]
assert unsubscribe.sync_detailed(client=client, **pair).status_code == 204
assert list_own_subscriptions.sync(client=client).data == []

paused = patch_source.sync(source.id, client=client, body=UpdateSource(active=False)).data
assert not paused.active, paused
refused = run_source.sync(source.id, client=client, body=RunSource(event={"n": 1}))
assert isinstance(refused, ErrorBody) and refused.error.code == "conflict", refused

assert delete_source_events.sync_detailed(source.id, client=client).status_code == 202
assert list_source_events.sync(source.id, client=client).data == []
assert delete_source.sync_detailed(source.id, client=client).status_code == 204
gone = show_source.sync(source.id, client=client)
assert isinstance(gone, ErrorBody) and gone.error.code == "not_found", gone
