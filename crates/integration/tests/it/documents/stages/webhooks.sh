for name in my-source other-source orders; do
  headwater deploy examples/http-orders.mjs --name $name
done
headwater webhooks create "$receiver/down-once" --name down --from orders
endpoint=$(headwater describe orders --json | grep -o 'http://[^"]*/e/[^"]*' | head -1)
curl -s "$endpoint" -H 'content-type: application/json' -d '{"order_id": 6}' >answer.json
printf '{"order_id": 7}' >body.json
at=$(date +%s)
secret=$(printf 'a secret of at least 24 bytes' | base64)
signed=$(printf 'msg_1.%s.%s' "$at" "$(cat body.json)" |
  openssl dgst -sha256 -hmac 'a secret of at least 24 bytes' -binary | base64)
echo "MSG = msg_1"
echo "1767225600 = $at"
echo "v1,… = v1,$signed"
echo "whsec_… = whsec_$secret"
