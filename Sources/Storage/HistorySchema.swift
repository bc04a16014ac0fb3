import SystemPackage

extension Schema {
  /// The tables of a history.
  ///
  /// `incremental` lets a trimmed database give its pages back. Names are blobs of UTF-8, as in the state database.
  static let history = Schema(
    steps: [
      """
      CREATE TABLE entry (
        id INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL,
        kind BLOB NOT NULL, region BLOB, beacon BLOB, payload BLOB NOT NULL, dwell REAL);
      CREATE INDEX entry_time ON entry (time);
      CREATE TABLE presence (
        hour INTEGER NOT NULL, beacon BLOB NOT NULL, seconds REAL NOT NULL,
        sightings INTEGER NOT NULL, samples INTEGER NOT NULL, sum REAL NOT NULL, best INTEGER,
        PRIMARY KEY (hour, beacon)) WITHOUT ROWID;
      CREATE TABLE setting (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
      INSERT INTO setting VALUES ('generation', CAST(lower(hex(randomblob(4))) AS BLOB));
      """
    ],
    // `BShi` in ASCII.
    applicationIdentifier: 0x4253_6869, foreign: .noHistory, isShared: true,
    preamble: "PRAGMA auto_vacuum = INCREMENTAL;")

  /// Connects to a database for reading, also where no file can be made beside it.
  func read(_ path: FilePath) throws(StorageError) -> Database {
    do throws(StorageError) {
      // Files of other programs get none beside them. The writer may be in the middle of a change: only what the
      // second look finds is damage.
      do throws(StorageError) {
        _ = try check(Database(path, for: .readingWithoutLocks))
      } catch {
        if case .foreign = error.problem { throw error }
      }
      return try check(Database(path, for: .reading))
    } catch {
      // SQLite has to make files of the log's index. On a medium that cannot be written, nobody writes either.
      guard case .failed = error.problem, !StatePath.isWritable(path.removingLastComponent()),
        StatePath.isReadable(path)
      else { throw error }
      let log = try? path.beside("-wal").stat()
      guard log.map({ $0.size == 0 }) ?? true else {
        throw StorageError(file: path.string, problem: .unreadableLog)
      }
      return try check(Database(path, for: .readingWithoutLocks))
    }
  }

  /// Returns a connection if its database has this schema.
  private func check(_ database: consuming Database) throws(StorageError) -> Database {
    let path = database.path.string
    let identifier: Int64
    do throws(StorageError) {
      identifier = try database.integer("PRAGMA application_id")
    } catch {
      // SQLite's message for a file without its header.
      guard error.problem == .damaged("file is not a database") else { throw error }
      throw StorageError(file: path, problem: .foreign(foreign))
    }
    let version = try database.integer("PRAGMA user_version")
    guard identifier == Int64(applicationIdentifier) else {
      // An empty file has no header.
      throw StorageError(
        file: path, problem: .foreign(identifier == 0 && version == 0 ? foreign : .otherDatabase))
    }
    guard version == steps.count else {
      throw StorageError(file: path, problem: .newer(version: version, known: steps.count))
    }
    return database
  }
}
