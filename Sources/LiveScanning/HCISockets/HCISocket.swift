import Advertising
import Glibc
import HCIPackets

#if RawHCI
  import CBluetooth

  /// A raw HCI socket, which is not inherited and does not block. Only this type calls the system.
  struct HCISocket: ~Copyable {
    let descriptor: Int32
    let adapter: UInt16?

    deinit { close(descriptor) }

    /// Opens a socket for no adapter; throws `EAFNOSUPPORT` without Bluetooth in this namespace.
    static func unbound(for adapter: UInt16? = nil) throws(HCISocketError) -> HCISocket {
      let flags = SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
      let descriptor = socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue | flags), BTPROTO_HCI)
      guard descriptor >= 0 else { throw HCISocketError("socket", adapter: adapter) }
      return HCISocket(descriptor: descriptor, adapter: adapter)
    }

    /// Opens a socket that receives one adapter's commands and events, with kernel time stamps.
    static func bound(to adapter: UInt16) throws(HCISocketError) -> HCISocket {
      let socket = try unbound(for: adapter)
      try socket.bind(to: adapter)
      for option in [HCI_TIME_STAMP, HCI_DATA_DIR] { try socket.set(1 as Int32, SOL_HCI, option) }
      // Room for a second of 1,000 reports; the kernel gives less to a process without the right.
      let room: Int32 = 1 << 20
      do throws(HCISocketError) {
        try socket.set(room, SOL_SOCKET, SO_RCVBUFFORCE)
      } catch {
        try? socket.set(room, SOL_SOCKET, SO_RCVBUF)
      }
      return socket
    }

    /// Opens a socket that receives only what a scanner needs, with other programs' commands.
    /// Throws `EPERM` without `CAP_NET_RAW`: the kernel then delivers no LE events, which only the
    /// filter shows.
    static func scanning(_ adapter: UInt16) throws(HCISocketError) -> HCISocket {
      let socket = try bound(to: adapter)
      let events = [EVT_CMD_COMPLETE, EVT_CMD_STATUS, EVT_HARDWARE_ERROR, EVT_LE_META_EVENT]
      try socket.filter(events: events, commands: true)
      var kept = hci_filter()
      var size = socklen_t(MemoryLayout<hci_filter>.size)
      // Both outlive the call.
      guard unsafe getsockopt(socket.descriptor, SOL_HCI, HCI_FILTER, &kept, &size) == 0 else {
        throw HCISocketError("getsockopt", adapter: adapter)
      }
      guard kept.event_mask.1 & 1 << UInt32(EVT_LE_META_EVENT - 32) != 0 else {
        throw HCISocketError("setsockopt", errno: EPERM, adapter: adapter)
      }
      return socket
    }

    /// Opens a socket that receives the kernel's reports that adapters come, go, or are switched.
    static func watching() throws(HCISocketError) -> HCISocket {
      let socket = try unbound()
      // HCI_DEV_NONE
      try socket.bind(to: UInt16.max)
      try socket.filter(events: [EVT_STACK_INTERNAL])
      return socket
    }

    private func bind(to adapter: UInt16) throws(HCISocketError) {
      var address = sockaddr_hci()
      address.hci_family = sa_family_t(AF_BLUETOOTH)
      address.hci_dev = adapter
      address.hci_channel = UInt16(HCI_CHANNEL_RAW)
      // The structure outlives the call.
      let bound = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          unsafe Glibc.bind(descriptor, address, socklen_t(MemoryLayout<sockaddr_hci>.size))
        }
      }
      guard bound == 0 else { throw HCISocketError("bind", adapter: adapter) }
    }

    private func set<Value: BitwiseCopyable>(_ value: Value, _ level: Int32, _ option: Int32)
      throws(HCISocketError)
    {
      var value = value
      // The value outlives the call.
      guard
        unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Value>.size))
          == 0
      else { throw HCISocketError("setsockopt", adapter: adapter) }
    }

    /// Limits the events to some codes, and answers to one opcode, or to all with 0; adds other
    /// programs' commands if requested.
    func filter(
      events: [Int32], opcode: Opcode = Opcode(rawValue: 0), commands: Bool = false
    ) throws(HCISocketError) {
      var mask: UInt64 = 0
      for event in events { mask |= 1 << UInt64(event & HCI_FLT_EVENT_BITS) }
      var filter = hci_filter()
      filter.type_mask = 1 << UInt32(HCI_EVENT_PKT)
      if commands { filter.type_mask |= 1 << UInt32(HCI_COMMAND_PKT) }
      filter.event_mask = (UInt32(truncatingIfNeeded: mask), UInt32(mask >> 32))
      // The kernel compares it with the opcode in packet order.
      filter.opcode = opcode.rawValue.littleEndian
      try set(filter, SOL_HCI, HCI_FILTER)
    }

    /// Sends a command; throws `ENETDOWN` if the adapter is off, and `EPERM` without `CAP_NET_RAW`.
    func send(_ command: HCICommand) throws(HCISocketError) {
      let packet = command.packet
      // The array's memory is used only during the call.
      let sent = unsafe packet.withUnsafeBytes { bytes in
        unsafe write(descriptor, bytes.baseAddress, bytes.count)
      }
      guard sent == packet.count else { throw HCISocketError("write", adapter: adapter) }
    }

    /// Reads one packet without waiting; returns its length, or `nil` if there is none.
    func read(into bytes: inout [UInt8]) throws(HCISocketError) -> Int? {
      // The array's memory is used only during the call.
      let count = unsafe bytes.withUnsafeMutableBytes { room in
        unsafe recv(descriptor, room.baseAddress, room.count, 0)
      }
      if count >= 0 { return count }
      guard errno == EAGAIN || errno == EINTR else {
        throw HCISocketError("recv", adapter: adapter)
      }
      return nil
    }

    func wait(milliseconds: Int32) throws(HCISocketError) {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      // The entry outlives the call.
      let ready = unsafe poll(&entry, 1, milliseconds)
      if ready < 0, errno != EINTR { throw HCISocketError("poll", adapter: adapter) }
    }

    /// The number of packets that the kernel dropped for lack of room: SK_MEMINFO_DROPS.
    var drops: UInt32 {
      var figures = InlineArray<16, UInt32>(repeating: 0)
      var size = socklen_t(MemoryLayout.size(ofValue: figures))
      // The kernel writes at most the given size.
      guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_MEMINFO, &figures, &size) == 0 else {
        return 0
      }
      return figures[Int(SK_MEMINFO_DROPS)]
    }
  }

  // The kernel's information about adapters, through any HCI socket.
  extension HCISocket {
    static func adapters(through descriptor: Int32) throws(HCISocketError) -> [Adapter] {
      var list = cbluetooth_dev_list()
      list.dev_num = UInt16(HCI_MAX_DEV)
      // The structure outlives the call.
      guard unsafe ioctl(descriptor, UInt(cbluetooth_HCIGETDEVLIST), &list) == 0 else {
        throw HCISocketError("HCIGETDEVLIST")
      }
      let count = min(Int(list.dev_num), Int(HCI_MAX_DEV))
      // The kernel has written that many entries.
      let indexes = unsafe withUnsafeBytes(of: &list.dev_req) { bytes in
        unsafe bytes.bindMemory(to: hci_dev_req.self).prefix(count).map(\.dev_id)
      }
      var adapters: [Adapter] = []
      for index in indexes.sorted() {
        if let adapter = try adapter(at: index, through: descriptor) { adapters.append(adapter) }
      }
      return adapters
    }

    static func adapter(at index: UInt16, through descriptor: Int32) throws(HCISocketError)
      -> Adapter?
    {
      var info = hci_dev_info()
      info.dev_id = index
      // The structure outlives the call.
      guard unsafe ioctl(descriptor, UInt(cbluetooth_HCIGETDEVINFO), &info) == 0 else {
        if errno == ENODEV { return nil }
        throw HCISocketError("HCIGETDEVINFO", adapter: index)
      }
      let octets = info.bdaddr.b
      let address = BluetoothAddress(
        rawValue: [octets.5, octets.4, octets.3, octets.2, octets.1, octets.0].reduce(0) {
          $0 << 8 | UInt64($1)
        })
      let bytes = info.features
      return Adapter(
        index: index, address: address.rawValue == 0 ? nil : address,
        isUp: info.flags & 1 << UInt32(HCI_UP) != 0, block: RadioBlock(adapter: index),
        // The library's text is constant.
        bus: unsafe hci_bustostr(Int32(info.type & 0x0F)).map { unsafe String(cString: $0) } ?? "?",
        features: [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7])
    }

    /// Switches an adapter on, which can take seconds; throws `EPERM` without `CAP_NET_ADMIN`,
    /// `ERFKILL` if rfkill blocks it, and `ETIMEDOUT` if the controller does not answer.
    func switchOn(_ index: UInt16) throws(HCISocketError) {
      guard ioctl(descriptor, UInt(cbluetooth_HCIDEVUP), CInt(index)) == 0 || errno == EALREADY
      else { throw HCISocketError("HCIDEVUP", adapter: index) }
    }

    var isHeld: Bool {
      // The address has no connection; the kernel returns EBUSY before it reads the address.
      var request = InlineArray<64, UInt8>(repeating: 0)
      // The request outlives the call.
      let done = unsafe ioctl(descriptor, UInt(cbluetooth_HCIGETCONNINFO), &request)
      return done != 0 && errno == EBUSY
    }
  }
#else
  /// A replacement for raw HCI sockets in a build without libbluetooth: none can be opened.
  struct HCISocket: ~Copyable {
    let descriptor: Int32
    let adapter: UInt16?

    static func unbound(for adapter: UInt16? = nil) throws(HCISocketError) -> HCISocket {
      throw .notBuiltIn
    }

    static func bound(to adapter: UInt16) throws(HCISocketError) -> HCISocket { throw .notBuiltIn }

    static func scanning(_ adapter: UInt16) throws(HCISocketError) -> HCISocket {
      throw .notBuiltIn
    }

    static func watching() throws(HCISocketError) -> HCISocket { throw .notBuiltIn }

    static func adapters(through descriptor: Int32) throws(HCISocketError) -> [Adapter] {
      throw .notBuiltIn
    }

    static func adapter(at index: UInt16, through descriptor: Int32) throws(HCISocketError)
      -> Adapter?
    {
      throw .notBuiltIn
    }

    func filter(
      events: [Int32], opcode: Opcode = Opcode(rawValue: 0), commands: Bool = false
    ) throws(HCISocketError) { throw .notBuiltIn }

    func send(_ command: HCICommand) throws(HCISocketError) { throw .notBuiltIn }
    func read(into bytes: inout [UInt8]) throws(HCISocketError) -> Int? { throw .notBuiltIn }
    func wait(milliseconds: Int32) throws(HCISocketError) { throw .notBuiltIn }
    func switchOn(_ index: UInt16) throws(HCISocketError) { throw .notBuiltIn }
    var drops: UInt32 { 0 }
    var isHeld: Bool { false }
  }
#endif
