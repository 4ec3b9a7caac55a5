mkdir workflows
