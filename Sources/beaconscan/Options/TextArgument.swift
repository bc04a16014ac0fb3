import ArgumentParser
package import Frontends

extension Seconds: ExpressibleByArgument {}
