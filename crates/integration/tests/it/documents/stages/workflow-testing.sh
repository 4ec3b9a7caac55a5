headwater workflows deploy examples/workflows/orders
