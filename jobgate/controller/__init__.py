"""The companion controller: makes and keeps the objects that plugins declare, owned by the job."""
