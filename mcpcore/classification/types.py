"""Exception types by name: one table, so that no library has to be imported to know its exceptions.

A row is found by the class's module and qualified name, also with the module's inner parts left out
(`httpx._exceptions.ReadTimeout` is `httpx.ReadTimeout`), nearest base class first. How much a row decides:

- "decides": the code, whatever the exception carries or says;
- "bug": the same, INTERNAL_ERROR: a mistake in the program, never the caller's;
- "yields": the code, unless the exception carries a fact, or one inside it is more specific;
- "falls back": as "yields", and the message is read first.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from mcpcore.codes import ErrorCode
from mcpcore.retry import Retry

Rule = Literal["decides", "bug", "yields", "falls back"]


class TypeRow(NamedTuple):
    """An exception class by name, its code, and how much that decides."""

    name: str
    code: ErrorCode
    rule: Rule
    retry: Retry | None = None


TYPES: Final[dict[str, TypeRow]] = {}

_C = ErrorCode
_NEVER: Final = Retry.never()
_NOW: Final = Retry.now()


def _add(prefixes: str, code: ErrorCode, names: str, rule: Rule = "decides", retry: Retry | None = None) -> None:
    for prefix in prefixes.split():
        for name in names.split():
            full = f"{prefix}.{name}"
            if full in TYPES:  # pragma: no cover - a slip of whoever changes the table
                raise AssertionError(f"two rows for {full}")
            TYPES[full] = TypeRow(full, code, rule, retry)


# The interpreter and the standard library
_add("builtins", _C.INTERNAL_ERROR, "TypeError AttributeError NameError UnboundLocalError AssertionError KeyError"
     " IndexError"
     " ZeroDivisionError FloatingPointError OverflowError ArithmeticError NotImplementedError RecursionError"
     " MemoryError"
     " SystemError BufferError ReferenceError StopIteration StopAsyncIteration ImportError ModuleNotFoundError"
     " EncodingWarning"
     " Warning SystemExit", "bug")  # fmt: skip
_add("builtins", _C.NOT_FOUND, "FileNotFoundError ProcessLookupError")
_add("builtins", _C.FORBIDDEN, "PermissionError")
_add("builtins", _C.CONFLICT, "FileExistsError")
_add("builtins", _C.TIMEOUT, "TimeoutError")
_add("builtins", _C.SERVICE_UNAVAILABLE, "ConnectionError BlockingIOError InterruptedError")
_add("builtins", _C.VALIDATION_ERROR, "IsADirectoryError NotADirectoryError")
_add("builtins", _C.SERIALIZATION_ERROR, "UnicodeError EOFError")
_add("builtins", _C.INTERNAL_ERROR, "ChildProcessError")
_add("builtins", _C.REQUEST_CANCELLED, "KeyboardInterrupt GeneratorExit")
_add("builtins", _C.VALIDATION_ERROR, "ValueError SyntaxError", "yields")
_add("builtins", _C.INTERNAL_ERROR, "OSError RuntimeError LookupError", "falls back")

_add("asyncio concurrent.futures trio anyio", _C.REQUEST_CANCELLED, "CancelledError Cancelled")
_add("asyncio", _C.RATE_LIMITED, "QueueFull")
_add("asyncio", _C.SERVICE_UNAVAILABLE, "IncompleteReadError")
_add("asyncio", _C.INTERNAL_ERROR, "InvalidStateError QueueEmpty QueueShutDown BrokenBarrierError"
     " SendfileNotAvailableError", "bug")  # fmt: skip
_add("asyncio", _C.SERVICE_UNAVAILABLE, "LimitOverrunError")
_add("queue", _C.RATE_LIMITED, "Full")
_add("_queue queue", _C.INTERNAL_ERROR, "Empty", "bug")
_add("concurrent.futures", _C.INTERNAL_ERROR, "BrokenExecutor InvalidStateError", "bug")
_add("concurrent.futures multiprocessing", _C.TIMEOUT, "TimeoutError")
_add("multiprocessing", _C.UNAUTHORIZED, "AuthenticationError")
_add("multiprocessing", _C.INTERNAL_ERROR, "ProcessError BufferTooShort")
_add("threading", _C.INTERNAL_ERROR, "BrokenBarrierError", "bug")
_add("subprocess", _C.TIMEOUT, "TimeoutExpired")
_add("subprocess", _C.INTERNAL_ERROR, "CalledProcessError SubprocessError")
_add("socket", _C.SERVICE_UNAVAILABLE, "gaierror herror")
_add("socket", _C.TIMEOUT, "timeout")
_add("ssl", _C.SERVICE_UNAVAILABLE, "SSLError")
_add("ssl", _C.SERVICE_UNAVAILABLE, "SSLCertVerificationError", retry=_NEVER)
_add("select", _C.INTERNAL_ERROR, "error", "falls back")
_add("http", _C.SERVICE_UNAVAILABLE, "HTTPException")
_add("http", _C.VALIDATION_ERROR, "InvalidURL")
_add("http", _C.INTERNAL_ERROR, "ImproperConnectionState", "bug")
_add("urllib", _C.SERVICE_UNAVAILABLE, "HTTPError", "yields")
_add("urllib", _C.SERVICE_UNAVAILABLE, "URLError", "falls back")
_add("urllib", _C.SERVICE_UNAVAILABLE, "ContentTooShortError")
_add("xmlrpc", _C.SERVICE_UNAVAILABLE, "ProtocolError", "yields")
_add("xmlrpc", _C.SERVICE_UNAVAILABLE, "Fault", "falls back")
_add("xmlrpc", _C.SERIALIZATION_ERROR, "ResponseError")
_add("smtplib", _C.UNAUTHORIZED, "SMTPAuthenticationError")
_add("smtplib", _C.VALIDATION_ERROR, "SMTPRecipientsRefused SMTPSenderRefused")
_add("smtplib", _C.INVALID_REQUEST, "SMTPNotSupportedError")
_add("smtplib", _C.SERVICE_UNAVAILABLE, "SMTPException", "yields")
_add("smtplib", _C.SERVICE_UNAVAILABLE, "SMTPServerDisconnected SMTPConnectError SMTPHeloError")
_add("ftplib imaplib poplib", _C.SERVICE_UNAVAILABLE, "Error IMAP4.error error_proto", "falls back")
_add("json", _C.SERIALIZATION_ERROR, "JSONDecodeError")
_add("xml", _C.SERIALIZATION_ERROR, "ParseError ExpatError SAXException DOMException")
_add("xml.parsers.expat pyexpat", _C.SERIALIZATION_ERROR, "Error")
_add("_csv csv _pickle pickle marshal", _C.SERIALIZATION_ERROR, "Error PickleError")
_add("tomllib tomli tomlkit toml", _C.SERIALIZATION_ERROR, "TOMLDecodeError TomlDecodeError TOMLKitError ParseError")
_add("plistlib", _C.SERIALIZATION_ERROR, "InvalidFileException")
_add("configparser", _C.CONFIGURATION_ERROR, "Error")
_add("binascii", _C.SERIALIZATION_ERROR, "Error Incomplete")
_add("zlib struct", _C.SERIALIZATION_ERROR, "error")
_add("_lzma lzma", _C.SERIALIZATION_ERROR, "LZMAError")
_add("gzip zipfile tarfile", _C.SERIALIZATION_ERROR, "BadGzipFile BadZipFile LargeZipFile TarError")
_add("tarfile", _C.FORBIDDEN, "FilterError")
_add("email", _C.SERIALIZATION_ERROR, "MessageError MessageDefect")
_add("re sre_constants", _C.VALIDATION_ERROR, "error PatternError")
_add("decimal", _C.VALIDATION_ERROR, "InvalidOperation ConversionSyntax")
_add("argparse", _C.VALIDATION_ERROR, "ArgumentError ArgumentTypeError")
_add("getopt optparse", _C.VALIDATION_ERROR, "GetoptError OptParseError")
_add("shutil", _C.CONFLICT, "SameFileError")
_add("shutil", _C.VALIDATION_ERROR, "SpecialFileError")
_add("shutil", _C.SERIALIZATION_ERROR, "ReadError")
_add("shutil", _C.INTERNAL_ERROR, "Error", "falls back")
_add("zoneinfo", _C.NOT_FOUND, "ZoneInfoNotFoundError")
_add("importlib", _C.NOT_FOUND, "PackageNotFoundError")
_add("netrc", _C.CONFIGURATION_ERROR, "NetrcParseError")
_add("ctypes", _C.INTERNAL_ERROR, "ArgumentError", "bug")
_add("dataclasses", _C.INTERNAL_ERROR, "FrozenInstanceError", "bug")
_add("io _io", _C.INTERNAL_ERROR, "UnsupportedOperation", "bug")
_add("_interpreters interpreters", _C.INTERNAL_ERROR, "InterpreterError ExecutionFailed", "falls back")

# Databases: PEP 249's classes, as each driver names them
_add("sqlite3", _C.DATABASE_ERROR, "Error Warning", "yields")
_add("sqlite3", _C.CONFLICT, "IntegrityError", "yields")
_add("sqlite3", _C.VALIDATION_ERROR, "DataError", "yields")
_PEP249: Final = (
    "psycopg psycopg2 asyncpg pymysql MySQLdb mysql.connector mariadb oracledb cx_Oracle pyodbc duckdb"
    " snowflake.connector django.db pg8000 aiomysql"
)
_add(_PEP249, _C.DATABASE_ERROR, "Error DatabaseError OperationalError ProgrammingError InternalError NotSupportedError"
     " InterfaceError", "yields")  # fmt: skip
_add(_PEP249, _C.CONFLICT, "IntegrityError", "yields")
_add(_PEP249, _C.VALIDATION_ERROR, "DataError", "yields")
_add("psycopg2", _C.VALIDATION_ERROR, "errors.ForeignKeyViolation errors.NotNullViolation errors.CheckViolation"
     " errors.RestrictViolation", "yields")  # fmt: skip
_add("psycopg2", _C.DATABASE_ERROR, "errors.DeadlockDetected errors.SerializationFailure errors.LockNotAvailable",
     "yields", Retry.after(seconds=1))  # fmt: skip
_add("psycopg2", _C.FORBIDDEN, "errors.InsufficientPrivilege", "yields")
_add("psycopg2", _C.UNAUTHORIZED, "errors.InvalidPassword errors.InvalidAuthorizationSpecification", "yields")
_add("psycopg2", _C.REQUEST_CANCELLED, "errors.QueryCanceled errors.QueryCanceledError"
     " extensions.QueryCanceledError", "yields")  # fmt: skip
_add("psycopg2", _C.SERVICE_UNAVAILABLE, "errors.TooManyConnections errors.ConnectionFailure errors.AdminShutdown"
     " errors.CannotConnectNow errors.ConnectionException errors.SqlclientUnableToEstablishSqlconnection",
     "yields")  # fmt: skip
_add("duckdb _duckdb", _C.DATABASE_ERROR, "ParserException SyntaxException BinderException CatalogException"
     " TransactionException IOException SerializationException FatalException OutOfMemoryException"
     " DependencyException InternalException NotImplementedException SequenceException", "yields")  # fmt: skip
_add("duckdb _duckdb", _C.VALIDATION_ERROR, "ConversionException OutOfRangeException InvalidInputException"
     " InvalidTypeException TypeMismatchException", "yields")  # fmt: skip
_add("duckdb _duckdb", _C.CONFLICT, "ConstraintException", "yields")
_add("duckdb _duckdb", _C.FORBIDDEN, "PermissionException", "yields")
_add("duckdb _duckdb", _C.REQUEST_CANCELLED, "InterruptException")
_add("duckdb _duckdb", _C.SERVICE_UNAVAILABLE, "ConnectionException HTTPException", "yields")
_add("asyncpg", _C.DATABASE_ERROR, "PostgresError InternalClientError", "yields")
_add("asyncpg", _C.CONFIGURATION_ERROR, "ClientConfigurationError")
_add("psycopg_pool", _C.TIMEOUT, "PoolTimeout")
_add("psycopg_pool", _C.SERVICE_UNAVAILABLE, "PoolClosed TooManyRequests")
_add("pymysql", _C.DATABASE_ERROR, "MySQLError", "yields")
_add(
    "sqlalchemy",
    _C.INTERNAL_ERROR,
    "SQLAlchemyError StatementError InvalidRequestError ArgumentError CompileError",
    "yields",
)
_add("sqlalchemy", _C.NOT_FOUND, "NoResultFound")
_add("sqlalchemy.orm", _C.NOT_FOUND, "ObjectDeletedError")
_add("sqlalchemy", _C.CONFLICT, "MultipleResultsFound")
_add("sqlalchemy.orm", _C.CONFLICT, "StaleDataError")
_add("sqlalchemy", _C.TIMEOUT, "TimeoutError")
_add("sqlalchemy", _C.CONFIGURATION_ERROR, "NoSuchModuleError")
_add("sqlalchemy", _C.DATABASE_ERROR, "NoSuchTableError PendingRollbackError")
_add("sqlalchemy", _C.SERVICE_UNAVAILABLE, "DisconnectionError")
_add("sqlalchemy", _C.DATABASE_ERROR, "DBAPIError DatabaseError OperationalError ProgrammingError"
     " InternalError NotSupportedError InterfaceError", "yields")  # fmt: skip
_add("sqlalchemy", _C.CONFLICT, "IntegrityError", "yields")
_add("sqlalchemy", _C.VALIDATION_ERROR, "DataError", "yields")
_add("redis valkey", _C.DATABASE_ERROR, "RedisError ValkeyError ResponseError RedisClusterException", "yields")
_add("redis valkey", _C.SERVICE_UNAVAILABLE, "ConnectionError", "yields")
_add("redis valkey", _C.SERVICE_UNAVAILABLE, "BusyLoadingError ReadOnlyError TryAgainError ClusterDownError"
     " MasterDownError"
     " ClusterError SlotNotCoveredError MaxConnectionsError")  # fmt: skip
_add("redis valkey", _C.TIMEOUT, "TimeoutError")
_add("redis valkey", _C.UNAUTHORIZED, "AuthenticationError AuthenticationWrongNumberOfArgsError")
_add("redis valkey", _C.FORBIDDEN, "AuthorizationError NoPermissionError")
_add("redis valkey", _C.CONFLICT, "WatchError LockError", retry=Retry.after(seconds=1))
_add("redis valkey", _C.CONFLICT, "LockNotOwnedError")
_add("redis valkey", _C.SERIALIZATION_ERROR, "DataError")
_add("redis valkey", _C.INTERNAL_ERROR, "PubSubError InvalidPipelineStack", "bug")
_add("pymongo", _C.DATABASE_ERROR, "PyMongoError OperationFailure", "yields")
_add("pymongo", _C.SERVICE_UNAVAILABLE, "ConnectionFailure AutoReconnect NotPrimaryError ServerSelectionTimeoutError")
_add("pymongo", _C.TIMEOUT, "NetworkTimeout ExecutionTimeout WTimeoutError WaitQueueTimeoutError")
_add("pymongo", _C.CONFLICT, "DuplicateKeyError CollectionInvalid")
_add("pymongo", _C.CONFIGURATION_ERROR, "ConfigurationError InvalidURI")
_add("pymongo", _C.VALIDATION_ERROR, "DocumentTooLarge InvalidName")
_add("pymongo", _C.INTERNAL_ERROR, "InvalidOperation", "bug")
_add("gridfs", _C.NOT_FOUND, "NoFile")
_add("gridfs", _C.CONFLICT, "FileExists")
_add("bson", _C.VALIDATION_ERROR, "InvalidId")
_add("bson", _C.SERIALIZATION_ERROR, "BSONError")
_add("elasticsearch opensearchpy elastic_transport", _C.SERVICE_UNAVAILABLE, "ApiError TransportError", "yields")
_add("elasticsearch opensearchpy elastic_transport", _C.SERVICE_UNAVAILABLE, "ConnectionError", "yields")
_add("elasticsearch opensearchpy elastic_transport", _C.SERVICE_UNAVAILABLE, "TlsError SSLError", retry=_NEVER)
_add("elasticsearch opensearchpy elastic_transport", _C.TIMEOUT, "ConnectionTimeout")
_add("elasticsearch opensearchpy elastic_transport", _C.SERIALIZATION_ERROR, "SerializationError")
_add("elasticsearch", _C.CONFIGURATION_ERROR, "UnsupportedProductError")
_add("elasticsearch", _C.INTERNAL_ERROR, "dsl.exceptions.IllegalOperation dsl.exceptions.UnknownDslObject", "bug")
_add("elasticsearch opensearchpy", _C.NOT_FOUND, "NotFoundError")
_add("elasticsearch opensearchpy", _C.CONFLICT, "ConflictError")
_add("elasticsearch opensearchpy", _C.UNAUTHORIZED, "AuthenticationException")
_add("elasticsearch opensearchpy", _C.FORBIDDEN, "AuthorizationException")
_add("cassandra", _C.SERVICE_UNAVAILABLE, "Unavailable OperationTimedOut", "falls back")
_add("neo4j", _C.SERVICE_UNAVAILABLE, "ServiceUnavailable SessionExpired DatabaseUnavailable RoutingServiceUnavailable"
     " NotALeader IncompleteCommit")  # fmt: skip
_add("neo4j", _C.UNAUTHORIZED, "AuthError TokenExpired")
_add("neo4j", _C.FORBIDDEN, "Forbidden")
_add("neo4j", _C.DATABASE_ERROR, "DatabaseError CypherSyntaxError TransactionError TransientError", "yields")
_add("neo4j", _C.VALIDATION_ERROR, "CypherTypeError ConstraintError", "yields")
_add("neo4j", _C.CONFIGURATION_ERROR, "ConfigurationError")
_add("clickhouse_connect", _C.DATABASE_ERROR, "Error DatabaseError ProgrammingError InternalError", "falls back")
_add("peewee", _C.DATABASE_ERROR, "PeeweeException", "yields")
_add("peewee", _C.CONFLICT, "IntegrityError", "yields")
_add("django.core", _C.NOT_FOUND, "ObjectDoesNotExist")
_add("django.core", _C.CONFLICT, "MultipleObjectsReturned")
_add("django.core", _C.FORBIDDEN, "PermissionDenied")
_add("django.core", _C.VALIDATION_ERROR, "ValidationError SuspiciousOperation BadRequest")
_add("django.core", _C.CONFIGURATION_ERROR, "ImproperlyConfigured")
_add("django.http", _C.NOT_FOUND, "Http404")

# HTTP clients
_add("httpx httpx2 httpcore httpcore2", _C.TIMEOUT, "TimeoutException")
_add("httpx httpx2 httpcore httpcore2", _C.SERVICE_UNAVAILABLE, "NetworkError ProxyError RemoteProtocolError")
_add("httpx httpx2 httpcore httpcore2", _C.INTERNAL_ERROR, "LocalProtocolError", "bug")
_add("httpx httpx2 httpcore httpcore2", _C.VALIDATION_ERROR, "UnsupportedProtocol")
_add("httpx httpx2", _C.SERVICE_UNAVAILABLE, "HTTPError", "yields")
_add("httpx httpx2", _C.VALIDATION_ERROR, "InvalidURL")
_add("httpx httpx2", _C.SERIALIZATION_ERROR, "DecodingError")
_add("httpx httpx2", _C.INVALID_REQUEST, "TooManyRedirects")
_add("httpx httpx2", _C.INTERNAL_ERROR, "StreamError CookieConflict", "bug")
_add("httpcore httpcore2", _C.SERVICE_UNAVAILABLE, "ProtocolError ConnectionNotAvailable")
_add("h11 h2", _C.SERVICE_UNAVAILABLE, "RemoteProtocolError ProtocolError")
_add("requests", _C.SERVICE_UNAVAILABLE, "RequestException HTTPError ConnectionError RetryError", "yields")
_add("requests", _C.TIMEOUT, "Timeout ConnectTimeout")
_add("requests", _C.SERVICE_UNAVAILABLE, "ProxyError ChunkedEncodingError")
_add("requests", _C.SERVICE_UNAVAILABLE, "SSLError", "yields")
_add("requests", _C.SERIALIZATION_ERROR, "InvalidJSONError ContentDecodingError")
_add(
    "requests", _C.VALIDATION_ERROR, "InvalidURL MissingSchema InvalidSchema URLRequired InvalidHeader InvalidProxyURL"
)
_add("requests", _C.INVALID_REQUEST, "TooManyRedirects")
_add("requests", _C.INTERNAL_ERROR, "StreamConsumedError UnrewindableBodyError", "bug")
_add("urllib3", _C.SERVICE_UNAVAILABLE, "HTTPError MaxRetryError ProtocolError ResponseError", "yields")
_add("urllib3", _C.TIMEOUT, "TimeoutError")
_add("urllib3", _C.SERVICE_UNAVAILABLE, "NewConnectionError SSLError ProxyError EmptyPoolError FullPoolError")
_add("urllib3", _C.INTERNAL_ERROR, "ClosedPoolError HostChangedError TimeoutStateError UnrewindableBodyError"
     " BodyNotHttplibCompatible ResponseNotChunked", "bug")  # fmt: skip
_add("urllib3", _C.SERIALIZATION_ERROR, "DecodeError HeaderParsingError")
_add("urllib3", _C.VALIDATION_ERROR, "LocationValueError InvalidHeader ProxySchemeUnsupported")
_add("urllib3", _C.VALIDATION_ERROR, "ProxySchemeUnknown")
_add("aiohttp", _C.SERVICE_UNAVAILABLE, "ClientError ClientOSError", "yields")
_add("aiohttp", _C.SERVICE_UNAVAILABLE, "ClientConnectionError ServerDisconnectedError ClientPayloadError")
_add("aiohttp", _C.SERVICE_UNAVAILABLE, "ClientConnectorError ClientConnectionResetError")
_add("aiohttp", _C.SERVICE_UNAVAILABLE, "ClientSSLError ServerFingerprintMismatch", retry=_NEVER)
_add("aiohttp", _C.TIMEOUT, "ServerTimeoutError")
_add("aiohttp", _C.SERIALIZATION_ERROR, "ContentTypeError", "yields")
_add("aiohttp", _C.VALIDATION_ERROR, "InvalidURL NonHttpUrlClientError")
_add("aiohttp", _C.INVALID_REQUEST, "TooManyRedirects RedirectClientError InvalidUrlRedirectClientError"
     " NonHttpUrlRedirectClientError")  # fmt: skip
_add("aiohttp", _C.INTERNAL_ERROR, "HTTPException", "yields")
_add("websockets", _C.SERVICE_UNAVAILABLE, "WebSocketException InvalidHandshake", "yields")
_add("websockets", _C.SERVICE_UNAVAILABLE, "ConnectionClosed")
_add("websockets", _C.VALIDATION_ERROR, "InvalidURI")
_add("websockets", _C.INTERNAL_ERROR, "ConcurrencyError InvalidState", "bug")
_add("anyio trio", _C.SERVICE_UNAVAILABLE, "BrokenResourceError ClosedResourceError EndOfStream IncompleteRead"
     " DelimiterNotFound ConnectionFailed BrokenWorkerProcess")  # fmt: skip
_add("anyio trio", _C.RATE_LIMITED, "WouldBlock")
_add("anyio trio", _C.INTERNAL_ERROR, "BusyResourceError NoEventLoopError TypedAttributeLookupError RunFinishedError"
     " FutureAlreadyFinished FutureNotFinished TaskNotFinished NeedHandshakeError TrioInternalError",
     "bug")  # fmt: skip
_add("trio", _C.SERVICE_UNAVAILABLE, "EndOfChannel")
_add("trio", _C.TIMEOUT, "TooSlowError")
_add("dns", _C.SERVICE_UNAVAILABLE, "DNSException")
_add("paramiko asyncssh", _C.UNAUTHORIZED, "AuthenticationException PermissionDenied")
_add("paramiko asyncssh", _C.SERVICE_UNAVAILABLE, "SSHException", "yields")
_add("paramiko", _C.SERVICE_UNAVAILABLE, "BadHostKeyException", retry=_NEVER)
_add("paramiko", _C.UNAUTHORIZED, "PasswordRequiredException")
_add("kafka", _C.SERVICE_UNAVAILABLE, "KafkaConnectionError NoBrokersAvailable NodeNotReadyError"
     " BrokerNotAvailableError"
     " NotLeaderForPartitionError LeaderNotAvailableError CoordinatorNotAvailableError NotCoordinatorError"
     " ReplicaNotAvailableError CoordinatorLoadInProgressError GroupCoordinatorNotAvailableError"
     " NotCoordinatorForGroupError GroupLoadInProgressError NetworkExceptionError", "yields")  # fmt: skip
_add("kafka", _C.INTERNAL_ERROR, "IllegalStateError", "bug")
_add("celery", _C.REQUEST_CANCELLED, "TaskRevokedError")
_add("celery billiard", _C.TIMEOUT, "SoftTimeLimitExceeded TimeLimitExceeded TimeoutError")
_add("celery billiard", _C.INTERNAL_ERROR, "WorkerLostError NotRegistered", "bug")
_add("kombu amqp pika aio_pika aiormq", _C.SERVICE_UNAVAILABLE, "OperationalError AMQPConnectionError", "yields")
_add("kombu", _C.SERIALIZATION_ERROR, "EncodeError DecodeError SerializationError ContentDisallowed", "yields")
_add("pika", _C.UNAUTHORIZED, "ProbableAuthenticationError")
_add("pika", _C.FORBIDDEN, "ProbableAccessDeniedError")
_add("hvac", _C.NOT_FOUND, "InvalidPath")
_add("ldap3", _C.SERVICE_UNAVAILABLE, "LDAPBusyResult LDAPUnavailableResult LDAPCommunicationError")
_add("github", _C.RATE_LIMITED, "RateLimitExceededException")

# Clouds and services
_add("botocore", _C.SERVICE_UNAVAILABLE, "ClientError", "yields")
_add("botocore", _C.INTERNAL_ERROR, "BotoCoreError", "falls back")
_add("botocore", _C.SERVICE_UNAVAILABLE, "HTTPClientError ConnectionError EndpointConnectionError ConnectionClosedError"
     " ProxyConnectionError ResponseStreamingError IncompleteReadError ChecksumError FlexibleChecksumError"
     " MetadataRetrievalError CapacityNotAvailableError", "yields")  # fmt: skip
_add("botocore", _C.SERVICE_UNAVAILABLE, "SSLError", retry=_NEVER)
_add("botocore", _C.TIMEOUT, "ConnectTimeoutError ReadTimeoutError")
_add("botocore", _C.VALIDATION_ERROR, "ParamValidationError ValidationError MissingParametersError"
     " UnsupportedS3ArnError"
     " UnsupportedS3ControlArnError InvalidDNSNameError InvalidHostLabelError UnknownKeyError RangeError")  # fmt: skip
_add("botocore", _C.CONFIGURATION_ERROR, "NoCredentialsError PartialCredentialsError CredentialRetrievalError"
     " NoRegionError"
     " ProfileNotFound ConfigNotFound ConfigParseError InvalidConfigError InvalidRegionError UnknownEndpointError"
     " BaseEndpointResolverError EndpointProviderError DataNotFoundError InvalidRetryConfigurationError"
     " UnknownCredentialError"
     " MissingDependencyException InvalidDefaultsMode InvalidProxiesConfigError WaiterConfigError UnknownRegionError"
     " UnsupportedS3ConfigurationError InvalidEndpointConfigurationError InvalidIMDSEndpointError NoAuthTokenError"
     " ServiceNotInRegionError InvalidS3AddressingStyleError ApiVersionNotFoundError UnknownSignatureVersionError"
     " UnknownServiceStyle UnsupportedSignatureVersionError UnsupportedServiceProtocolsError MissingServiceIdError"
     " RefreshWithMFAUnsupportedError InvalidIMDSEndpointModeError")  # fmt: skip
_add("botocore", _C.INTERNAL_ERROR, "UnknownClientMethodError OperationNotPageableError StubResponseError"
     " StubAssertionError UnStubbedResponseError UnseekableStreamError", "bug")  # fmt: skip
_add("botocore", _C.UNAUTHORIZED, "SSOError UnauthorizedSSOTokenError TokenRetrievalError LoginError")
_add("botocore", _C.TIMEOUT, "WaiterError", "falls back")
_add("boto3 s3transfer", _C.INTERNAL_ERROR, "Boto3Error", "falls back")
_add(
    "boto3 s3transfer",
    _C.SERVICE_UNAVAILABLE,
    "S3TransferFailedError S3UploadFailedError S3CopyFailedError S3DownloadFailedError RetriesExceededError",
    "yields",
)
_add("boto3", _C.CONFIGURATION_ERROR, "ResourceNotExistsError UnknownAPIVersionError")
_add("google.api_core", _C.SERVICE_UNAVAILABLE, "GoogleAPIError GoogleAPICallError", "yields")
_add("google.api_core", _C.TIMEOUT, "RetryError", "yields")
_add("google.api_core", _C.INVALID_PARAMS, "BadRequest")
_add("google.api_core", _C.VALIDATION_ERROR, "InvalidArgument OutOfRange")
_add("google.api_core", _C.CONFLICT, "FailedPrecondition Conflict AlreadyExists")
_add("google.api_core", _C.CONFLICT, "Aborted", retry=Retry.after(seconds=1))
_add("google.api_core", _C.UNAUTHORIZED, "Unauthorized")
_add("google.api_core", _C.FORBIDDEN, "Forbidden")
_add("google.api_core", _C.NOT_FOUND, "NotFound")
_add("google.api_core", _C.RATE_LIMITED, "TooManyRequests")
_add("google.api_core", _C.REQUEST_CANCELLED, "Cancelled UploadCancelledError")
_add("google.api_core", _C.SERVICE_UNAVAILABLE, "MethodNotImplemented DataLoss", retry=_NEVER)
_add("google.api_core", _C.SERVICE_UNAVAILABLE, "InternalServerError BadGateway ServiceUnavailable Unknown"
     " ResumableTransferError TransferStalledError MissingStatusHeaderError")  # fmt: skip
_add("google.api_core", _C.TIMEOUT, "GatewayTimeout")
_add("google.api_core", _C.INTERNAL_ERROR, "AsyncRestUnsupportedParameterError DuplicateCredentialArgs"
     " UnseekableStreamError", "bug")  # fmt: skip
_add("google.auth", _C.CONFIGURATION_ERROR, "DefaultCredentialsError MutualTLSChannelError ClientCertError")
_add("google.auth", _C.UNAUTHORIZED, "GoogleAuthError RefreshError OAuthError", "yields")
_add("google.auth", _C.SERVICE_UNAVAILABLE, "TransportError ResponseError", "yields")
_add("google.auth", _C.TIMEOUT, "TimeoutError")
_add("google.protobuf", _C.SERIALIZATION_ERROR, "DecodeError EncodeError ParseError SerializeToJsonError")
_add("azure.core", _C.SERVICE_UNAVAILABLE, "AzureError HttpResponseError ODataV4Error", "yields")
_add("azure.core", _C.UNAUTHORIZED, "ClientAuthenticationError", "yields")
_add("azure.core", _C.NOT_FOUND, "ResourceNotFoundError", "yields")
_add("azure.core", _C.CONFLICT, "ResourceExistsError ResourceModifiedError")
_add("azure.core", _C.INVALID_REQUEST, "ResourceNotModifiedError TooManyRedirectsError")
_add("azure.core", _C.SERVICE_UNAVAILABLE, "ServiceRequestError ServiceResponseError IncompleteReadError")
_add("azure.core", _C.TIMEOUT, "ServiceRequestTimeoutError ServiceResponseTimeoutError")
_add("azure.core", _C.SERIALIZATION_ERROR, "DecodeError SerializationError DeserializationError")
_add("azure.core", _C.INTERNAL_ERROR, "StreamConsumedError StreamClosedError ResponseNotReadError", "bug")
_add("azure.identity", _C.CONFIGURATION_ERROR, "CredentialUnavailableError")
_add("grpc", _C.SERVICE_UNAVAILABLE, "RpcError", "yields")
_add("grpc", _C.TIMEOUT, "FutureTimeoutError")
_add("grpc", _C.REQUEST_CANCELLED, "FutureCancelledError")
_add("grpc", _C.INTERNAL_ERROR, "BaseError", "bug")
_add("openai anthropic", _C.SERVICE_UNAVAILABLE, "OpenAIError AnthropicError APIError APIStatusError", "falls back")
_add("openai anthropic", _C.SERVICE_UNAVAILABLE, "APIConnectionError")
_add("openai anthropic", _C.TIMEOUT, "APITimeoutError")
_add("openai anthropic", _C.SERIALIZATION_ERROR, "APIResponseValidationError")
_add("openai anthropic", _C.INVALID_PARAMS, "BadRequestError", "yields")
_add("openai anthropic", _C.UNAUTHORIZED, "AuthenticationError", "yields")
_add("openai anthropic", _C.FORBIDDEN, "PermissionDeniedError", "yields")
_add("openai anthropic", _C.NOT_FOUND, "NotFoundError", "yields")
_add("openai anthropic", _C.CONFLICT, "ConflictError", "yields")
_add("openai anthropic", _C.VALIDATION_ERROR, "UnprocessableEntityError", "yields")
_add("openai anthropic", _C.RATE_LIMITED, "RateLimitError", "yields")
_add(
    "openai anthropic", _C.SERVICE_UNAVAILABLE, "InternalServerError OverloadedError ServiceUnavailableError", "yields"
)
_add("openai anthropic", _C.INTERNAL_ERROR, "StreamAlreadyConsumed", "bug")
_add("openai", _C.UNAUTHORIZED, "InvalidWebhookSignatureError")
_add("openai", _C.VALIDATION_ERROR, "ContentFilterFinishReasonError LengthFinishReasonError")
_add("docker kubernetes github slack_sdk stripe huggingface_hub", _C.SERVICE_UNAVAILABLE,
     "APIError ApiException GithubException SlackApiError StripeError HfHubHTTPError", "falls back")  # fmt: skip

# Validation, parsing, credentials
_add(
    "pydantic_core pydantic pydantic.v1", _C.VALIDATION_ERROR, "ValidationError PydanticCustomError PydanticKnownError"
)
_add("pydantic_core", _C.SERIALIZATION_ERROR, "PydanticSerializationError PydanticSerializationUnexpectedValue")
_add("pydantic_core", _C.INTERNAL_ERROR, "SchemaError", "bug")
_add("pydantic", _C.INTERNAL_ERROR, "PydanticUserError PydanticUndefinedAnnotation PydanticSchemaGenerationError"
     " PydanticInvalidForJsonSchema PydanticImportError PydanticForbiddenQualifier", "bug")  # fmt: skip
_add("pydantic_settings", _C.CONFIGURATION_ERROR, "SettingsError")
_add("jsonschema fastjsonschema cerberus marshmallow voluptuous msgspec", _C.VALIDATION_ERROR, "ValidationError"
     " JsonSchemaValueException DocumentError Invalid")  # fmt: skip
_add("jsonschema", _C.INTERNAL_ERROR, "SchemaError UnknownType UndefinedTypeCheck FormatError", "bug")
_add("jsonschema", _C.INTERNAL_ERROR, "_RefResolutionError", "bug")
_add("referencing", _C.INTERNAL_ERROR, "Unresolvable NoSuchResource", "bug")
_add("msgspec", _C.SERIALIZATION_ERROR, "MsgspecError")
_add("yaml ruamel", _C.SERIALIZATION_ERROR, "YAMLError yaml.YAMLError")
_add("lxml", _C.SERIALIZATION_ERROR, "XMLSyntaxError ParseError ParserError LxmlError", "yields")
_add("lxml", _C.VALIDATION_ERROR, "DocumentInvalid XPathError")
_add("pypdf PyPDF2", _C.SERIALIZATION_ERROR, "PyPdfError PdfReadError", "yields")
_add("simplejson ujson orjson demjson msgpack cbor2", _C.SERIALIZATION_ERROR, "JSONDecodeError JSONEncodeError"
     " UnpackException"
     " FormatError CBORError CBORDecodeError")  # fmt: skip
_add("PIL", _C.SERIALIZATION_ERROR, "UnidentifiedImageError")
_add("lark", _C.SERIALIZATION_ERROR, "UnexpectedInput")
_add("libcst", _C.SERIALIZATION_ERROR, "ParserSyntaxError")
_add("jwt", _C.UNAUTHORIZED, "PyJWTError InvalidTokenError")
_add("jwt", _C.CONFIGURATION_ERROR, "InvalidKeyError PyJWKError PyJWKSetError")
_add("jwt", _C.SERVICE_UNAVAILABLE, "PyJWKClientConnectionError")
_add("jose authlib joserfc itsdangerous", _C.UNAUTHORIZED, "JOSEError JoseError BadData OAuthError InvalidTokenError")
_add("cryptography", _C.UNAUTHORIZED, "InvalidToken InvalidSignature")
_add("email_validator", _C.VALIDATION_ERROR, "EmailNotValidError")
_add("packaging", _C.VALIDATION_ERROR, "InvalidVersion InvalidSpecifier InvalidRequirement InvalidName InvalidMarker")
_add("click", _C.VALIDATION_ERROR, "UsageError")
_add("click", _C.REQUEST_CANCELLED, "Abort")
_add("idna", _C.VALIDATION_ERROR, "IDNAError")

# Frameworks, and the retry errors that wrap the last failure
_add("mcp", _C.INTERNAL_ERROR, "MCPError McpError", "falls back")
_add("mcp", _C.NOT_FOUND, "ResourceNotFoundError")
_add("fastmcp", _C.NOT_FOUND, "NotFoundError")
_add("fastmcp", _C.VALIDATION_ERROR, "ValidationError")
_add("fastmcp", _C.FORBIDDEN, "AuthorizationError")
_add("mcp fastmcp", _C.INTERNAL_ERROR, "ToolError ResourceError PromptError", "falls back")
_add("starlette werkzeug quart litestar", _C.INTERNAL_ERROR, "HTTPException", "yields")
_add("fastapi", _C.VALIDATION_ERROR, "RequestValidationError")
_add("tenacity", _C.SERVICE_UNAVAILABLE, "RetryError", "falls back")
_add("opentelemetry", _C.INTERNAL_ERROR, "OpenTelemetryError", "falls back")

PARTS: Final[dict[str, tuple[str, ...]]] = {
    "sqlalchemy.StatementError": ("orig",),
    "tenacity.RetryError": ("last_attempt",),
    "urllib3.MaxRetryError": ("reason",),
    "urllib.URLError": ("reason",),
    "aiohttp.ClientConnectorError": ("os_error",),
    "google.api_core.RetryError": ("cause",),
    "elastic_transport.TransportError": ("errors",),
    "elasticsearch.TransportError": ("errors",),
    "opensearchpy.TransportError": ("info",),
    "botocore.BotoCoreError": ("kwargs",),
    "pymongo.AutoReconnect": ("errors",),
}
"""Where the exceptions of a wrapper are, besides its causes and its arguments."""

DEFINES_NAMES: Final = frozenset({
    "builtins.ValueError", "builtins.LookupError", "builtins.KeyError", "builtins.IndexError", "builtins.OSError",
    "builtins.RuntimeError", "builtins.ArithmeticError", "builtins.ConnectionError",
    "builtins.NotImplementedError",
})  # fmt: skip
"""Classes that an application derives its own exceptions from: the name of a derived class says more than they do."""
