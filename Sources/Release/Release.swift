package let release = "0.1.0"
