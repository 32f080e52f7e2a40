fn main() -> std::io::Result<()> {
    tonic_prost_build::configure()
        .build_server(false)
        .compile_protos(
            &["../../../proto/tenure/v1/election.proto"],
            &["../../../proto"],
        )
}
