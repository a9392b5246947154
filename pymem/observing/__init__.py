"""What operators see of a running process: metrics and an access log, without any content."""
