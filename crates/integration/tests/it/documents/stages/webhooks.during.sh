endpoint=$(headwater describe orders --json | grep -o 'http://[^"]*/e/[^"]*' | head -1)
curl -s "$endpoint" -H 'content-type: application/json' -d '{"order_id": 7}' >answer.json
echo 'Order 7'
