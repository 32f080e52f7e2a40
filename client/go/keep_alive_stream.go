package tenure

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "tenure/v1"
)

// One renewal is under way at a time, so no more than this ever wait to be sent.
const renewalsMax = 4

var errStreamEnded = status.Error(codes.Unavailable, "the server ended the stream")

// keepAliveStream is one KeepAlive stream, as a source of messages.
type keepAliveStream struct {
	requests chan *pb.KeepAliveRequest
	close    context.CancelFunc
}

// openKeepAlive does not wait. The functions are called one at a time; none follows `closed`.
func openKeepAlive(ctx context.Context, client pb.ElectionServiceClient, message func(*pb.KeepAliveResponse), closed func(error)) *keepAliveStream {
	ctx, cancel := context.WithCancel(ctx)
	s := &keepAliveStream{requests: make(chan *pb.KeepAliveRequest, renewalsMax), close: cancel}
	go func() {
		err := s.receive(ctx, client, message)
		cancel()
		closed(err)
	}()
	return s
}

// receive returns why the stream ended.
func (s *keepAliveStream) receive(ctx context.Context, client pb.ElectionServiceClient, message func(*pb.KeepAliveResponse)) error {
	stream, err := client.KeepAlive(ctx)
	if err != nil {
		return err
	}
	go s.send(ctx, stream)
	for {
		response, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return errStreamEnded
		}
		if err != nil {
			return err
		}
		message(response)
	}
}

func (s *keepAliveStream) send(ctx context.Context, stream pb.ElectionService_KeepAliveClient) {
	for {
		select {
		case request := <-s.requests:
			if stream.Send(request) != nil {
				return // Recv knows why
			}
		case <-ctx.Done():
			return
		}
	}
}
