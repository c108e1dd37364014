class Quipu < Formula
  desc "@SUMMARY@"
  homepage "https://github.com/@REPOSITORY@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    depends_on arch: :arm64
    url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/quipu-@VERSION@-aarch64-apple-darwin.tar.gz"
    sha256 "@MACOS_ARM64@"
  end

  on_linux do
    on_intel do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/quipu-@VERSION@-x86_64-unknown-linux-gnu.tar.gz"
      sha256 "@LINUX_X64@"
    end
    on_arm do
      url "https://github.com/@REPOSITORY@/releases/download/v@VERSION@/quipu-@VERSION@-aarch64-unknown-linux-gnu.tar.gz"
      sha256 "@LINUX_ARM64@"
    end
  end

  def install
    bin.install "quipu"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/quipu"
    zsh_completion.install "share/zsh/site-functions/_quipu"
    fish_completion.install "share/fish/vendor_completions.d/quipu.fish"
  end

  service do
    run [opt_bin/"quipu", "serve"]
    keep_alive successful_exit: false
  end

  test do
    system bin/"quipu", "demo", "--quiet"
  end
end
