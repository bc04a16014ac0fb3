import Advertising
import Glibc
import HCIPackets
import Scanning
import Synchronization

@testable import LiveScanning

#if RawHCI
  let hasRawHCI = true
#else
  let hasRawHCI = false
#endif

/// A host of a few lines: adapters that a test plugs in and pulls, each behind a socket pair on which a controller
/// answers. A scanner runs on it as on the kernel.
final class ModelHost: Sendable {
  private struct State: ~Copyable {
    var adapters: [UInt16: Adapter] = [:]
    /// Controllers, and the sockets by which the scanner reaches them.
    var controllers: [UInt16: Controller] = [:]
    var opened = 0
    var asked = 0
    var failure: Int32?
    /// Sockets of other programs, by their inodes.
    var strangers: [UInt64] = []
  }

  private final class Controller {
    var descriptor: Int32 = -1
    var inode: UInt64 = 0
    var isScanning = false
  }

  private let state = Mutex(State())

  deinit {
    state.withLock { state in
      for controller in state.controllers.values where controller.descriptor >= 0 {
        close(controller.descriptor)
      }
    }
  }

  /// Plugs an adapter in. Its controller scans already, if a process left it so.
  func plug(_ index: UInt16, _ address: UInt64, isScanning: Bool = false) {
    var adapter = Adapter.well(index)
    adapter.address = BluetoothAddress(rawValue: address)
    state.withLock { state in
      state.adapters[index] = adapter
      state.controllers[index] = Controller()
      state.controllers[index]?.isScanning = isScanning
    }
  }

  /// Pulls an adapter: its socket ends.
  func pull(_ index: UInt16) {
    state.withLock { state in
      state.adapters[index] = nil
      if let controller = state.controllers.removeValue(forKey: index), controller.descriptor >= 0 {
        close(controller.descriptor)
      }
    }
  }

  /// Has every call that opens a socket fail from now on; `nil` for none.
  func fail(_ errno: Int32?) { state.withLock { $0.failure = errno } }

  /// Lists a socket of another program.
  func addStranger() { state.withLock { $0.strangers.append(1) } }

  /// How many sockets were opened.
  var opened: Int { state.withLock { $0.opened } }

  /// Whether an adapter's controller scans.
  func isScanning(_ index: UInt16) -> Bool {
    state.withLock { $0.controllers[index]?.isScanning ?? false }
  }

  /// The host as a scanner sees it.
  var system: HCISystem {
    HCISystem(
      adapters: { [self] (socket) throws(HCISocketError) in
        try open(unless: socket, for: nil)
        return state.withLock { $0.adapters.values.sorted { $0.index < $1.index } }
      },
      open: { [self] (index) throws(HCISocketError) in
        try open(unless: nil, for: index)
        return try connect(index)
      },
      switchOn: { _ throws(HCISocketError) in }, isHeld: { _ in false },
      socketList: { [self] in list }, rights: { .scanner })
  }

  private func open(unless socket: Int32?, for adapter: UInt16?) throws(HCISocketError) {
    guard socket == nil else { return }
    let failure = state.withLock { state in
      state.opened += 1
      return state.failure
    }
    if let failure { throw HCISocketError("socket", errno: failure, adapter: adapter) }
  }

  private func connect(_ index: UInt16) throws(HCISocketError) -> HCISocket {
    var pair: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue)
    // The array's memory is used during the call alone.
    guard unsafe socketpair(AF_UNIX, type, 0, &pair) == 0 else {
      throw HCISocketError("socketpair")
    }
    var status = stat()
    // The structure outlives the call.
    unsafe fstat(pair[0], &status)
    let inode = UInt64(status.st_ino)
    let (far, near) = (pair[1], pair[0])
    state.withLock { state in
      guard let controller = state.controllers[index] else { return }
      if controller.descriptor >= 0 { close(controller.descriptor) }
      controller.descriptor = far
      controller.inode = inode
    }
    return HCISocket(descriptor: near, adapter: index)
  }

  /// `/proc/net/hci`, with the sockets of the scanner and of others.
  private var list: String {
    state.withLock { state in
      let own = state.controllers.values.filter { $0.descriptor >= 0 }.map(\.inode)
      return "sk RefCnt Rmem Wmem User Inode Parent\n"
        + (own + state.strangers).map { "0 2 0 0 0 \($0) 0\n" }.joined()
    }
  }

  /// Has an adapter's controller report an advert.
  func report(_ index: UInt16) {
    state.withLock { state in
      guard let controller = state.controllers[index], controller.descriptor >= 0 else { return }
      let event: [UInt8] = [4, 0x3E, 12, 2, 1, 3, 0, 1, 2, 3, 4, 5, 6, 0, 0xC4]
      // The array outlives the call.
      _ = unsafe send(controller.descriptor, event, event.count, 0)
    }
  }

  /// Has each controller answer the commands that wait.
  func answer() {
    state.withLock { state in
      for controller in state.controllers.values where controller.descriptor >= 0 {
        Self.answer(controller)
      }
    }
  }

  private static func answer(_ controller: Controller) {
    var bytes = [UInt8](repeating: 0, count: 260)
    while true {
      // The array's memory is used during the call alone.
      let count = unsafe recv(controller.descriptor, &bytes, bytes.count, 0)
      guard count >= 4 else { return }
      let opcode = Opcode(rawValue: UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
      var status: UInt8 = 0
      var values: [UInt8] = []
      switch opcode {
      case .readLocalSupportedCommands: values = [UInt8](repeating: 0, count: 64)
      case .readLocalLEFeatures: values = [UInt8](repeating: 0, count: 8)
      case .setScanParameters: if controller.isScanning { status = CommandResult.commandDisallowed }
      case .setScanEnable: controller.isScanning = bytes[4] == 1
      default: break
      }
      let event =
        [0x04, 0x0E, UInt8(4 + values.count), 1, bytes[1], bytes[2], status] + values
      // The array outlives the call.
      _ = unsafe send(controller.descriptor, event, event.count, 0)
    }
  }
}

extension ModelHost {
  /// Has a scanner receive for some seconds, or until something is so.
  ///
  /// - Returns: What it reported.
  func run(
    _ scanner: HCIScanner, seconds: Double, until isDone: () -> Bool = { false }
  ) throws -> [ScannerHealth] {
    var sightings: [Sighting] = []
    var health: [ScannerHealth] = []
    let end = MonotonicTime.now.advanced(by: Int64(seconds * 1e9))
    while MonotonicTime.now < end, !isDone() {
      let deadline = MonotonicTime.now.advanced(by: 10_000_000)
      health += scanner.receive(for: .ranging, until: deadline, into: &sightings).health
      answer()
    }
    return health
  }

  /// Creates a scanner on this host.
  func scanner(_ adapters: AdapterSelection) -> HCIScanner {
    var configuration = LiveScanner.Configuration()
    configuration.adapters = adapters
    return HCIScanner(configuration, system: system)
  }
}
