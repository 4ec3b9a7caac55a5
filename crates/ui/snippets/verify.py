import base64, hashlib, hmac, time

# headers: names in lower case; body: the bytes as they came.
def verify(secret, headers, body):
    timestamp = headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    signatures = headers["webhook-signature"].split(" ")
    return any(hmac.compare_digest(given, expected) for given in signatures)
