"""Checks the chart as `helm lint` does, and renders it with the values of both kinds of stores."""

import sys

import helm_python as helm
import yaml

CHART = sys.argv[1]
URL = "https://node.example.com"
DATABASE = {
    "publicUrl": URL,
    "replicaCount": 3,
    "database": {"url": "postgres://headwater:hush@db/headwater"},
    "secret": {"secretKey": "1:" + "0" * 64, "clusterSecret": "shared by all nodes of the tests"},
}
CERTIFICATE = {"tls": {"secretName": "certificate"}}
EVERYTHING = {
    "publicUrl": URL,
    "settings": {"log_json": True, "webhook_backoff": "5s,5m"},
    "trustedProxies": "10.0.0.0/8",
    "ingress": {"enabled": True, "host": "node.example.com", "tlsSecretName": "site"},
    "serviceMonitor": {"enabled": True},
    "persistence": {"storageClass": "fast"},
} | CERTIFICATE


def rendered(values):
    """The objects of the chart by their kinds; the Service that lists nodes is one of its own."""
    with helm.Chart.load(CHART) as chart:
        files = chart.render(values, name="demo", namespace="events")
    objects = {}
    for name, text in files.items():
        if not name.endswith(".yaml"):
            continue
        for found in yaml.safe_load_all(text):
            if found:
                kind = found["kind"]
                headless = kind == "Service" and found["spec"].get("clusterIP") == "None"
                objects["Nodes" if headless else kind] = found
    return objects


def pod_of(objects):
    return objects["StatefulSet"]["spec"]["template"]["spec"]


def environment(objects):
    return {it["name"]: it.get("value") for it in pod_of(objects)["containers"][0]["env"]}


def refused(values, told):
    try:
        rendered(values)
    except helm.HelmError as error:
        assert told in str(error), error
    else:
        raise AssertionError(f"{values} were not refused")


found = helm.lint(CHART)
assert not found["errors"] and not found["messages"], found

one = rendered({"publicUrl": URL})
assert sorted(one) == ["ConfigMap", "Nodes", "Secret", "Service", "StatefulSet"], sorted(one)
assert one["StatefulSet"]["spec"]["replicas"] == 1
assert "HEADWATER_NODE_ADDRESS" not in environment(one)
pod = pod_of(one)
assert pod["automountServiceAccountToken"] is False
assert pod["securityContext"]["runAsNonRoot"] is True
container = pod["containers"][0]
assert container["securityContext"] == {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
for probe, path in [("livenessProbe", "/healthz"), ("readinessProbe", "/readyz"), ("startupProbe", "/healthz")]:
    assert container[probe]["httpGet"] == {"path": path, "port": "http", "scheme": "HTTP"}

three = rendered(DATABASE)
assert three["StatefulSet"]["spec"]["replicas"] == 3
assert environment(three)["HEADWATER_NODE_ADDRESS"] == "http://$(POD_IP):3000"
encrypted = environment(rendered(DATABASE | CERTIFICATE))
assert encrypted["HEADWATER_NODE_ADDRESS"] == "https://$(POD_NAME).demo-headwater-nodes.events.svc:3000"
# A variable can be used by those after it.
assert list(encrypted).index("POD_NAME") < list(encrypted).index("HEADWATER_NODE_ADDRESS")
assert three["StatefulSet"]["spec"]["serviceName"] == three["Nodes"]["metadata"]["name"] == "demo-headwater-nodes"
secret = three["Secret"]["stringData"]
assert secret["HEADWATER_CLUSTER_SECRET"] == "shared by all nodes of the tests"
assert secret["HEADWATER_DATABASE_URL"] == DATABASE["database"]["url"]
assert "PodDisruptionBudget" in three
# Whatever is secret is in the Secret alone.
rest = yaml.safe_dump([it for kind, it in three.items() if kind != "Secret"])
assert "hush" not in rest and "shared by" not in rest, rest

whole = rendered(EVERYTHING)
assert {"Ingress", "ServiceMonitor"} <= set(whole)
assert "log_json = true" in whole["ConfigMap"]["data"]["headwater.toml"]
assert environment(whole)["HEADWATER_TLS_CERT"].startswith("/etc/headwater-tls/")
assert pod_of(whole)["containers"][0]["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"
labels = whole["Nodes"]["metadata"]["labels"]
assert whole["ServiceMonitor"]["spec"]["selector"]["matchLabels"].items() <= labels.items()

refused({}, "publicUrl is missing")
refused({"publicUrl": URL, "replicaCount": 2}, "database.url")
refused(DATABASE | {"secret": {"secretKey": DATABASE["secret"]["secretKey"]}}, "secret.clusterSecret")
refused({"publicUrl": URL, "database": {"inExistingSecret": True}}, "secret.existing")
