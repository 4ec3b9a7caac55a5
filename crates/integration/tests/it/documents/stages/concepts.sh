headwater deploy examples/http-orders.mjs
headwater webhooks create "$receiver/hooks" --name shop
headwater webhooks create "$receiver/alarms" --name alarms
