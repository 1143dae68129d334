"""What runs beside the webhook server."""
