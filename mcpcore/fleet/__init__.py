"""The failures of many servers in one table: ClickHouse, embedded in this process or on a cluster.

`clickhouse_connect` and `chdb` are imported when a store is opened, and only by `store`.
"""
