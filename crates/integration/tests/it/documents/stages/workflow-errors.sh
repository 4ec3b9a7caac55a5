headwater webhooks create "$receiver/alarms" --name alarms
