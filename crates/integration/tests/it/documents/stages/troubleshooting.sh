echo "hw_ = $HEADWATER_API_KEY"
echo '127.0.0.1:3001 = 127.0.0.1:0'
headwater deploy examples/http-orders.mjs
headwater webhooks create "$receiver/hooks" --name shop --from orders
