COMMON = ["a"]
