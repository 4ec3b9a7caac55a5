ada=$(headwater users create ada --email ada@example.org | head -1)
headwater open --no-browser
headwater webhooks create "$receiver/hooks" --name shop
HEADWATER_API_KEY=$ada headwater deploy examples/http-orders.mjs
HEADWATER_API_KEY=$ada headwater update orders --name orders
